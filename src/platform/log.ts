import { isoTime } from './clock.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Values of a log line. Callers pass ids, counts and reasons, never secrets. */
export type LogFields = Record<string, string | number | boolean | null | undefined>

export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void> & {
  /** Whether lines of this level are written, so that hot paths can skip building fields. */
  covers(level: LogLevel): boolean
}

interface Line {
  at: string
  level: LogLevel
  message: string
  fields: LogFields
}

/** `redact` runs last on every line, so that a key in an error message is never logged. */
export function createLog(options: {
  level: LogLevel
  format: 'text' | 'json'
  now: () => number
  /** Added to every line. */
  common?: LogFields
  write: (line: string) => void
}): Log {
  const lowest = LOG_LEVELS.indexOf(options.level)
  const format = options.format === 'json' ? asJson : asText

  const covers = (level: LogLevel) => LOG_LEVELS.indexOf(level) >= lowest

  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!covers(level)) return
      const all = options.common ? { ...options.common, ...fields } : fields
      options.write(redact(format({ at: isoTime(options.now()), level, message, fields: all })))
    }

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), covers }
}

const asJson = ({ at, level, message, fields }: Line) =>
  JSON.stringify({ at, level, message, ...fields })

const asText = ({ at, level, message, fields }: Line) =>
  [
    at,
    level.toUpperCase().padEnd(5),
    oneLine(message),
    ...Object.entries(fields).flatMap(pair),
  ].join(' ')

const pair = ([name, value]: [string, LogFields[string]]) =>
  value === undefined
    ? []
    : [`${name}=${/^[\w.:/-]+$/.test(`${value}`) ? value : JSON.stringify(value)}`]

/** Puts a message on one line, so that text from outside can't forge log lines. */
const oneLine = (text: string) => text.replaceAll(/[\r\n]+/g, ' ')

/** The forms of keys, tokens and webhook secrets, and of bot tokens in paths. */
const SECRETS =
  /\b(?:[a-z][a-z0-9]*_(?:gate|clockwork|passepartout|relay)_|gat_|ppt_|whsec_)[\w+/=-]{8,}|\bbot\d+:[\w-]+/g

const redact = (line: string) => line.replaceAll(SECRETS, '[redacted]')
