// Reads the file that Checkpoint.save(path) of attn.transformer writes, quantised or whole.
import { wrong } from "./shared.js";

const FORMAT = "attn checkpoint 1";

const camelCase = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/**
 * The configuration, { dModel, nHeads, ... }, and the parameters as a tree of modules,
 * parameters.encoder.layers[0].norm1.weight, whose leaves are Float32Array: a vector, or the
 * rows of a matrix one after another. `model` is the class whose checkpoint it must be.
 */
export function readCheckpoint(bytes, model = "Transformer") {
  const wanted = `a checkpoint of ${model}`;
  const { metadata, tensors } = readSafetensors(new Uint8Array(bytes), wanted);
  if (metadata?.format !== FORMAT) throw wrong("bytes", wanted, "something else");
  if (metadata.model !== model) throw wrong("bytes", wanted, `a ${metadata.model}`);
  for (const [name, first] of Object.entries(metadata.tied)) tensors[name] = tensors[first];
  const config = Object.entries(metadata.config).map(([name, value]) => [camelCase(name), value]);
  return { config: Object.fromEntries(config), parameters: tree(tensors) };
}

/** Eight bytes tell how long the header is, the header where each tensor is in what follows. */
function readSafetensors(file, wanted) {
  let metadata, entries, start;
  try {
    start = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
    ({ __metadata__: { attn: metadata }, ...entries } = JSON.parse(new TextDecoder().decode(file.subarray(8, start))));
    metadata = JSON.parse(metadata);
  } catch {
    throw wrong("bytes", wanted, "something else");
  }
  const numbers = ({ dtype, data_offsets: [begin, end] }) => {
    if (start + end > file.length) throw wrong("bytes", `${start + end} bytes or more`, file.length);
    if (dtype !== "I8" && dtype !== "F32") throw wrong("bytes", "int8 and float32 numbers", dtype);
    const { buffer } = file.slice(start + begin, start + end);
    return dtype === "I8" ? new Int8Array(buffer) : new Float32Array(buffer);
  };
  const tensors = {};
  for (const [name, entry] of Object.entries(entries)) {
    if (name.endsWith(".scale")) continue;
    tensors[name] = numbers(entry);
    if (entry.dtype === "I8") tensors[name] = dequantise(tensors[name], numbers(entries[`${name}.scale`]));
  }
  return { metadata, tensors };
}

/** Each row was stored as whole numbers from −127 to 127, and what they are to be multiplied by. */
function dequantise(steps, scale) {
  const nColumns = steps.length / scale.length;
  return Float32Array.from(steps, (step, i) => step * scale[Math.floor(i / nColumns)]);
}

function tree(tensors) {
  const root = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const path = camelCase(name).split(".");
    const leaf = path.pop();
    path.reduce((node, key) => (node[key] ??= {}), root)[leaf] = tensor;
  }
  return root;
}
