import { isDamage } from '../../db/errors.ts'
import { sentenceOf } from '../sentences.ts'

export interface Finding {
  check: string
  result: 'ok' | 'warning' | 'problem'
  /** One line: the state, and what to do about it. */
  message: string
}

/** Findings under one heading. */
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

/** Runs a check; an error becomes a finding, so that other checks go on. */
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

/** Advice for a database that can't be read. */
export const RESTORE = 'stop the server and run `gatehouse restore FILE` with the last backup'

/** The message of an error, with advice if the database is damaged. */
export function adviceOn(error: unknown): string {
  const message = sentenceOf(error)
  return isDamage(error) ? `${message}: ${RESTORE}` : message
}

/** The system's name of an error, such as `ENOSPC`. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** The result of `work`, or `late` after `ms` milliseconds: a dead mount never answers. */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const timeUp = Promise.withResolvers<L>()
  const timer = setTimeout(() => timeUp.resolve(late), ms)
  try {
    return await Promise.race([work, timeUp.promise])
  } finally {
    clearTimeout(timer)
  }
}
