import type { Config } from '../config/index.ts'
import { systemClock } from '../platform/clock.ts'
import { createLog, type Log, type LogFields } from '../platform/log.ts'
import type { Io } from './command.ts'

/** The log of a server on standard output; `common` is added to every line. */
export function logFor({ log }: Config, io: Io, common?: LogFields): Log {
  const format = log.format === 'auto' ? (io.isOutTerminal ? 'text' : 'json') : log.format
  // A log that can't be written, as on a full disk, must not stop the server.
  const write = (line: string) => void Promise.resolve(io.out(`${line}\n`)).catch(() => {})
  const { now } = systemClock
  return createLog({ level: log.level, format, now, write, ...(common && { common }) })
}
