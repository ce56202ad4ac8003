import { invalid } from '../../../platform/errors.ts'
import type { SIGNALS } from './names.ts'

export type Signal = (typeof SIGNALS)[number]

/** What a ping says, and the exit code if that is how it says it. */
export interface Said {
  signal: Signal
  exitCode: number | null
}

const WORDS: ReadonlySet<string> = new Set(['start', 'fail', 'log'])
const EXIT_CODE = /^(?:\d{1,2}|1\d\d|2[0-4]\d|25[0-5])$/

/** The signal in the path of a ping URL, which is success without one; undefined if unknown. */
export function signalIn(text: string | undefined): Said | undefined {
  if (text === undefined) return { signal: 'success', exitCode: null }
  if (WORDS.has(text)) return { signal: text as Signal, exitCode: null }
  if (!EXIT_CODE.test(text)) return undefined
  const exitCode = Number(text)
  return { signal: exitCode === 0 ? 'success' : 'fail', exitCode }
}

const RID = /^[\w.-]{1,64}$/

/** The ID of a run, which pairs its start with its end. Throws `invalid`. */
export function ridIn(text: string | undefined): string | null {
  if (text === undefined) return null
  if (RID.test(text)) return text
  throw invalid('must be 1 to 64 letters, digits or _ . -', { field: 'rid', rule: 'format' })
}
