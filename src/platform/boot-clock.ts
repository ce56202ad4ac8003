import { openSync, readSync } from 'node:fs'

/** Seconds since the start, to hundredths, and seconds that the processors were idle. */
const FILE = '/proc/uptime'

const line = Buffer.alloc(64)
let descriptor: number | undefined

/**
 * Milliseconds since the machine started, to 10 ms. All its processes see the same time, it goes on
 * while the machine is suspended, and setting the clock doesn't change it. Linux only.
 */
export function bootMs(): number {
  descriptor ??= openSync(FILE, 'r')
  const bytes = readSync(descriptor, line, 0, line.length, 0)
  return Math.round(Number.parseFloat(line.toString('latin1', 0, bytes)) * 1000)
}
