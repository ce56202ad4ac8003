import { StorageError } from '../db/errors.ts'
import { type Answer, type Configured, EXIT, type ExitCode } from './command.ts'
import type { Sink } from './export-sink.ts'
import type { OfflineServices } from './open.ts'

/** Records an export before it starts. On a disk that takes no writes, it only warns. */
export async function note(
  { db, audit, actor }: OfflineServices,
  warn: (text: string) => void,
  entry: { tenantId: string; action: string; object: string },
) {
  try {
    await db.commit(() => audit.record({ ...entry, actor }))
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    warn(`This export is not in the audit log: ${error.message}.`)
  }
}

export type Warner = ReturnType<typeof createWarner>

/** Prints each warning immediately, or collects them for the report with `--json`. */
export function createWarner({ io, options }: Configured) {
  const warnings: string[] = []
  function warn(text: string) {
    warnings.push(text)
    if (options.json !== true) io.err(`${text}\n`)
  }
  return { warn, warnings }
}

/** The report, on standard error where standard output is the data. */
export function reported(
  { io, options }: Configured,
  sink: Sink,
  answer: Answer,
): Answer | ExitCode {
  if (sink.target.file !== undefined) return answer
  io.err(`${options.json === true ? JSON.stringify(answer.json) : answer.text}\n`)
  return EXIT.ok
}
