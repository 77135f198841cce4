// The tasks that HeadExplorer sets its reader with the model in the page, and the tests of their
// results.
import { fill, format } from "./shared.js";

export const PRONOUNS = [" they", " he", " she"]; // The probability of each as the next token is shown.
const PAIR = /^\p{Lu}\p{L}+ and \p{Lu}\p{L}+ wrote several songs when$/u;

export const DARE_STRINGS = {
  es: {
    dares: "Retos", tryIt: "Preparar", done: "Logrado.", answer: "Respuesta", dare: "Reto {n}.", percent: "\u202f%",
    off: "De las seis hay {right} apagadas, y {wrong} que no son de ellas.", chances: "*they* {0}, *he* {1}, *she* {2}.",
    frame: "La oración tiene que ser «… and … wrote several songs when», con dos nombres de persona.",
    list: [
      { kind: "word", view: "carry", sentence: "The capital of Italy is", other: "The capital of France is", heads: 0, wanted: "Rome",
        text: "La capital de Francia es París. Haz que el modelo diga Rome con un solo toque.",
        answer: "Toca la columna de «␣France» en cualquier capa hasta la 22, o la de «␣is» desde la 25: la respuesta pasa de una palabra a la otra entre esas capas." },
      { kind: "word", view: "heads", sentence: "The dog chased the cat. The cat chased the", other: "", heads: 1, wanted: "cat",
        text: "Tras «The dog chased the cat. The cat chased the» (el perro persiguió al gato, el gato persiguió al…) el modelo da a dog un 94\u202f%. De las 270 cabezas hay una sola sin la cual lo más probable es cat. Encuéntrala.",
        answer: "La cabeza 4 de la capa 2." },
      { kind: "word", view: "heads", sentence: "The capital of France is", other: "", layer: 24, heads: 8, wanted: "Paris", least: 0.5,
        text: "Tras «The capital of France is» el modelo da a Paris un 77\u202f%. De la capa 24 basta una de las nueve cabezas para que Paris siga por encima de la mitad. Deja solo esa.",
        answer: "La cabeza 5: si queda sola, Paris tiene un 80\u202f%. Con cualquiera de las otras tiene menos de un 18\u202f%." },
      { kind: "six", view: "heads", sentence: "fork nine chair green horse window fork nine chair green horse", other: "",
        text: "El modelo lee seis palabras sueltas dos veces y sabe que ahora toca window. Apaga las seis cabezas que más miran a lo que siguió la otra vez, y ninguna más.",
        answer: "Las cabezas 4, 5 y 6 de la capa 18, la 7 y la 8 de la 19, y la 8 de la 24." },
      { kind: "they", view: "heads", sentence: "John and Paul wrote several songs when", other: "",
        text: "Con John y Paul el modelo sigue con they («ellos»), como debe. Cambia los dos nombres por otros dos con los que he («él») o she («ella») sea más probable que they.",
        answer: "Mary and Anna, por ejemplo: she, un 33\u202f%; they, un 24\u202f%." },
    ],
  },
  en: {
    dares: "Dares", tryIt: "Set it up", done: "Done.", answer: "Answer", dare: "Dare {n}.", percent: "%",
    off: "Of the six {right} are off, and {wrong} that are none of them.", chances: "*they* {0}, *he* {1}, *she* {2}.",
    frame: "The sentence has to be “… and … wrote several songs when”, with two names of people.",
    list: [
      { kind: "word", view: "carry", sentence: "The capital of Italy is", other: "The capital of France is", heads: 0, wanted: "Rome",
        text: "The capital of France is Paris. Make the model say Rome with a single touch.",
        answer: "Touch the column of “␣France” in any layer up to 22, or that of “␣is” from 25 on: between those layers the answer moves from one word to the other." },
      { kind: "word", view: "heads", sentence: "The dog chased the cat. The cat chased the", other: "", heads: 1, wanted: "cat",
        text: "After “The dog chased the cat. The cat chased the” the model gives dog 94%. Of the 270 heads there is one alone without which cat is the most probable. Find it.",
        answer: "Head 4 of layer 2." },
      { kind: "word", view: "heads", sentence: "The capital of France is", other: "", layer: 24, heads: 8, wanted: "Paris", least: 0.5,
        text: "After “The capital of France is” the model gives Paris 77%. Of the nine heads of layer 24 one is enough to hold Paris above one half. Keep only that one.",
        answer: "Head 5: left alone, it holds Paris at 80%. With any of the others Paris has less than 18%." },
      { kind: "six", view: "heads", sentence: "fork nine chair green horse window fork nine chair green horse", other: "",
        text: "The model reads six loose words twice, and knows that window is due. Switch off the six heads that look most at what followed the time before, and no other.",
        answer: "Heads 4, 5 and 6 of layer 18, 7 and 8 of layer 19, and 8 of layer 24." },
      { kind: "they", view: "heads", sentence: "John and Paul wrote several songs when", other: "",
        text: "With John and Paul the model goes on with they, as it should. Exchange the two names for two others with which he or she is more probable than they.",
        answer: "Mary and Anna, for example: she has 33%, they 24%." },
    ],
  },
};

/** The six heads with the largest scores, each as [layer, head]. */
export const sixOf = (scores, nHeads) => [...scores.keys()].sort((i, j) => scores[j] - scores[i]).slice(0, 6)
  .map((i) => [Math.floor(i / nHeads), i % nHeads]);

/**
 * The state of a task, { isDone, told }: with the heads that are `off`, the `best` next token after
 * the reader's intervention and its probability, the probabilities of `PRONOUNS`, and the six heads
 * with the largest induction scores.
 */
export function standing(dare, { text, other, off, best, chance, chances, six }, t) {
  if (dare.kind === "they") {
    const [they, ...singular] = chances;
    const isPair = PAIR.test(text);
    const percent = chances.map((p) => `${format(100 * p, 0)}${t.percent}`);
    return { isDone: isPair && !other && !off.length && Math.max(...singular) > they, told: isPair ? fill(t.chances, percent) : t.frame };
  }
  const isSet = text === dare.sentence && other === dare.other;
  if (dare.kind === "word") {
    const isThere = off.length === dare.heads && off.every(([layer]) => !dare.layer || layer === dare.layer - 1);
    return { isDone: isSet && isThere && best === dare.wanted && chance > (dare.least ?? 0), told: "" };
  }
  const right = off.filter(([l, k]) => six.some(([layer, head]) => l === layer && k === head)).length;
  return { isDone: isSet && right === 6 && off.length === 6, told: isSet ? fill(t.off, { right, wrong: off.length - right }) : "" };
}
