import { crc32, deflateSync } from 'node:zlib'

/** A PNG image of one color, with dimensions that its content may not have. */
export function png(width = 64, height = 32, claimed = { width, height }): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(claimed.width, 0)
  header.writeUInt32BE(claimed.height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const line = Buffer.concat([Buffer.of(0), Buffer.alloc(width * 3, 0x60)])
  const lines = Buffer.concat(Array.from({ length: height }, () => line))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}

/** The beginning of a JPEG image, with an application segment before its frame header. */
export const jpeg = (width: number, height: number): Buffer =>
  Buffer.from(`ffd8ffe0000600000000ffc2000b08${hex(height)}${hex(width)}01012200ffd9`, 'hex')

const hex = (number: number) => number.toString(16).padStart(4, '0')

/** The beginning of each kind of WebP image. */
export function webp(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer {
  const image = Buffer.alloc(40)
  image.write('RIFF', 0)
  image.write('WEBP', 8)
  image.write(kind, 12)
  if (kind === 'VP8 ') {
    image.writeUInt16LE(width, 26)
    image.writeUInt16LE(height, 28)
  } else if (kind === 'VP8L') {
    image.writeUInt8(0x2f, 20)
    image.writeUInt32LE((width - 1) | ((height - 1) << 14), 21)
  } else {
    image.writeUIntLE(width - 1, 24, 3)
    image.writeUIntLE(height - 1, 27, 3)
  }
  return image
}
