import { expect, test } from 'bun:test'
import { checkedImage, MAX_LOGO_BYTES } from '../../../src/platform/branding/image.ts'
import { jpeg, png, webp } from './images.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

test.each([
  ['image/png', png(64, 32)],
  ['image/jpeg', jpeg(64, 32)],
  ['image/webp', webp('VP8 ', 64, 32)],
  ['image/webp', webp('VP8L', 64, 32)],
  ['image/webp', webp('VP8X', 64, 32)],
] as const)('An image of the type %s is known by its content', (type, bytes) => {
  expect(checkedImage(bytes, 'image')).toEqual({ type, width: 64, height: 32 })
})

test.each([
  ['nothing', Buffer.alloc(0), 'required'],
  ['SVG', Buffer.from(SVG), 'format'],
  ['SVG after a byte order mark', Buffer.from(`\ufeff${SVG}`), 'format'],
  ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>'), 'format'],
  ['a GIF', Buffer.from('GIF89a\x40\0\x20\0\x80\0\0'), 'format'],
  ['a PDF', Buffer.from('%PDF-1.7'), 'format'],
  ['a PNG that is cut off', png().subarray(0, 20), 'format'],
  ['a JPEG without a frame', Buffer.from('ffd8ffe00004', 'hex'), 'format'],
  ['a JPEG of fill bytes alone', Buffer.alloc(2000, 0xff).fill(0xd8, 1, 2), 'format'],
  [
    'another RIFF file',
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(40)]),
    'format',
  ],
  ['a PNG of 400 megapixels', png(16, 16, { width: 20_000, height: 20_000 }), 'range'],
  ['a PNG of no width', png(16, 16, { width: 0, height: 16 }), 'range'],
  ['a JPEG that is too high', jpeg(64, 2049), 'range'],
  ['a WebP that is too wide', webp('VP8X', 4_000_000, 64), 'range'],
  ['too many bytes', Buffer.concat([png(), Buffer.alloc(MAX_LOGO_BYTES)]), 'too_large'],
])('A logo can be no %s', (_, bytes, rule) => {
  const broken = expect.objectContaining({ field: 'image', rule })
  expect(() => checkedImage(bytes, 'image')).toThrow(broken)
})
