import { isDamage } from '../../db/errors.ts'
import { sentenceOf } from '../sentences.ts'

export interface Finding {
  check: string
  result: 'ok' | 'warning' | 'problem'
  /** One line: what is so, and what to do about it. */
  message: string
}

/** What belongs together on the screen. */
export interface Group {
  title: string
  findings: Finding[]
}

const finding =
  (result: Finding['result']) =>
  (check: string, message: string): Finding => ({ check, result, message: oneLine(message) })

export const ok = finding('ok')
export const warning = finding('warning')
export const problem = finding('problem')

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** A check that cannot be made is a finding too, and keeps no other from being made. */
export async function examined(
  check: string,
  findings: () => Finding[] | Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await findings()
  } catch (error) {
    return [problem(check, adviceOn(error))]
  }
}

/** What is left to do about a database that cannot be read. */
export const RESTORE = 'stop the server, and `gatehouse restore FILE` from the last backup'

/** The message of an error, with what to do where the database is damaged. */
export function adviceOn(error: unknown): string {
  const message = sentenceOf(error)
  return isDamage(error) ? `${message}: ${RESTORE}` : message
}

/** The system's name of an error, such as `ENOSPC`. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** What `work` comes to, or `late` if that takes longer: a dead mount answers never. */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const timeUp = Promise.withResolvers<L>()
  const timer = setTimeout(() => timeUp.resolve(late), ms)
  try {
    return await Promise.race([work, timeUp.promise])
  } finally {
    clearTimeout(timer)
  }
}
