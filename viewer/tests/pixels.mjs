// Counts colours in a picture of the viewer. Tolerant: antialiasing and fonts change a few pixels.
import { inflateSync } from "node:zlib";

/** Decodes an 8-bit RGB or RGBA PNG that is not interlaced: {width, height, at(x, y) -> [r, g, b]}. */
export function decodePng(bytes) {
  const data = Buffer.from(bytes);
  const parts = [];
  let width, height, channels;
  for (let at = 8; at < data.length; ) {
    const length = data.readUInt32BE(at);
    const type = data.toString("latin1", at + 4, at + 8);
    const body = data.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      width = body.readUInt32BE(0);
      height = body.readUInt32BE(4);
      channels = body[9] === 6 ? 4 : 3;
    }
    if (type === "IDAT") parts.push(body);
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const pixels = unfilter(raw, width, height, channels);
  return { width, height, at: (x, y) => [...pixels.subarray((y * width + x) * channels, (y * width + x) * channels + 3)] };
}

function unfilter(raw, width, height, channels) {
  const line = width * channels;
  const out = Buffer.alloc(line * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (line + 1)];
    for (let i = 0; i < line; ++i) {
      const left = i >= channels ? out[y * line + i - channels] : 0;
      const up = y > 0 ? out[(y - 1) * line + i] : 0;
      const corner = y > 0 && i >= channels ? out[(y - 1) * line + i - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[y * line + i] = raw[y * (line + 1) + 1 + i] + guess;
    }
  }
  return out;
}

function paeth(a, b, c) {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** Pixels that a test accepts: how many, and where their middle is. */
export function find(picture, accepts) {
  let count = 0, x = 0, y = 0;
  for (let row = 0; row < picture.height; ++row)
    for (let column = 0; column < picture.width; ++column)
      if (accepts(...picture.at(column, row))) (count += 1), (x += column), (y += row);
  return { count, x: x / count, y: y / count };
}

export const isSnake = (r, g, b) => g > r + 50 && g > 70 && Math.abs(g - b) < 60; // green-blue
export const isOverlay = (r, g, b) => r > b + 40 && r > 150 && g > b && r - g > 10 && r - g < 120; // orange
export const isClosed = (r, g, b) => r > b + 100 && g > b + 80 && r < g + 90; // yellow
export const isSlip = (r, g, b) => r > g + 110 && r > b + 110; // red
