// The editor of the exercises: CodeMirror with what a few lines of Python need. The build bundles
// this file with its packages; the page loads the bundle when a reader first asks for it.
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { tags } from "@lezer/highlight";

const colour = (name) => `var(--attn-${name})`;
// The colours of the code in the text, which follow the page's scheme.
const highlighting = HighlightStyle.define([
  { tag: tags.comment, color: colour("muted"), fontStyle: "italic" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], color: colour("extra") },
  { tag: [tags.string, tags.special(tags.string)], color: colour("value") },
  { tag: [tags.number, tags.bool, tags.null], color: colour("key") },
  { tag: tags.function(tags.definition(tags.variableName)), color: colour("query") },
]);
const theme = EditorView.theme({
  "&": { color: colour("ink"), backgroundColor: colour("surface"), fontSize: "max(16px, 0.86rem)" }, // a phone zooms into smaller letters
  "&.cm-focused": { outline: `2px solid ${colour("accent")}` },
  ".cm-scroller": { fontFamily: "var(--attn-mono, ui-monospace, monospace)", lineHeight: "1.55" },
  ".cm-content": { caretColor: colour("ink"), padding: "0.7rem 0" },
  ".cm-cursor": { borderLeftColor: colour("ink") },
  ".cm-gutters": { color: colour("muted"), backgroundColor: colour("sunken"), border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--attn-accent) 8%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--attn-accent) 26%, transparent)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--attn-value) 30%, transparent)" },
});

/**
 * Put an editor into an element.
 *
 * Tab indents. Escape and then Tab, or Shift-Escape, leaves the editor, so it does not trap the focus.
 */
window.attnEditor = function attnEditor(parent, { doc, label, describedBy, onChange, onRun }) {
  const run = () => { onRun(); return true; };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc,
      extensions: [
        lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
        indentUnit.of("    "), EditorState.tabSize.of(4), python(), syntaxHighlighting(highlighting), theme,
        keymap.of([{ key: "Mod-Enter", run }, { key: "Shift-Enter", run }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label, "aria-describedby": describedBy, autocapitalize: "off", spellcheck: "false" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) onChange(view.state.doc.toString()); }),
      ],
    }),
  });
  return {
    get: () => view.state.doc.toString(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
  };
};
