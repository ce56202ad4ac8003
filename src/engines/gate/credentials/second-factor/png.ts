import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** PNG header: one bit per pixel, greyscale, deflated, filtered by row, not interlaced. */
const FORMAT = [1, 0, 0, 0, 0]

/** A black-and-white PNG. All rows must be as long as the first; true is black. */
export function monochromePng(rows: boolean[][]): Buffer {
  const size = Buffer.alloc(8)
  size.writeUInt32BE(rows[0]?.length ?? 0, 0)
  size.writeUInt32BE(rows.length, 4)

  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([size, Buffer.from(FORMAT)])),
    chunk('IDAT', deflateSync(Buffer.concat(rows.map(scanline)))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Starts with the filter type, 0 for none. A bit that is set is white. */
function scanline(row: boolean[]): Buffer {
  const line = Buffer.alloc(1 + Math.ceil(row.length / 8))
  for (let x = 0; x < row.length; x++) {
    const at = 1 + (x >> 3)
    if (!row[x]) line[at] = (line[at] as number) | (0x80 >> (x & 7))
  }
  return line
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
