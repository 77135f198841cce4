// Reads the files that Checkpoint.save(path) of attn.transformer writes, quantised or in full precision.
import { room } from "./kernel.js";
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

/** The first eight bytes give the length of the header, and the header gives the offset of each tensor after it. */
function readSafetensors(file, wanted) {
  let metadata, entries, start;
  try {
    start = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
    ({ __metadata__: { attn: metadata }, ...entries } = JSON.parse(new TextDecoder().decode(file.subarray(8, start))));
    metadata = JSON.parse(metadata);
  } catch {
    throw wrong("bytes", wanted, "something else");
  }
  const found = Object.entries(entries).filter(([name]) => !name.endsWith(".scale"));
  const sides = found.flatMap(([, { shape }]) => shape);
  const all = room(found.reduce((total, [, { shape }]) => total + nNumbers(shape), 0), Math.max(...sides));
  const numbers = ({ dtype, data_offsets: [begin, end] }) => {
    if (start + end > file.length) throw wrong("bytes", `${start + end} bytes or more`, file.length);
    if (dtype !== "I8" && dtype !== "F32") throw wrong("bytes", "int8 and float32 numbers", dtype);
    const { buffer } = file.slice(start + begin, start + end);
    return dtype === "I8" ? new Int8Array(buffer) : new Float32Array(buffer);
  };
  const tensors = {};
  let used = 0;
  for (const [name, entry] of found) {
    const tensor = all.subarray(used, used += nNumbers(entry.shape));
    if (entry.dtype === "I8") dequantise(tensor, numbers(entry), numbers(entries[`${name}.scale`]));
    else tensor.set(numbers(entry));
    tensors[name] = tensor;
  }
  return { metadata, tensors };
}

const nNumbers = (shape) => shape.reduce((product, size) => product * size, 1);

/** Each row is stored as integers from −127 to 127 and one scale, by which they are multiplied. */
function dequantise(tensor, steps, scale) {
  for (let row = 0, i = 0; row < scale.length; row++) {
    for (const end = ((row + 1) * steps.length) / scale.length; i < end; i++) tensor[i] = steps[i] * scale[row];
  }
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
