import { HeaderMap } from '../../http/schemas.ts'
import { invalid } from '../../platform/errors.ts'
import { between, json, requireShape } from '../../platform/portable/fields.ts'
import { asItIs, type Field } from '../../platform/portable/table.ts'
import {
  JobOptions,
  MAX_DEDUPLICATION_ID,
  MAX_NOTES,
  optionColumns,
  type RetryOptions,
} from './job-options.ts'
import { createSecretHeaders, type JobKind, sealedIn } from './secret-headers.ts'
import type { CronJobRow } from './store/cron-jobs.ts'

/** The columns of options in exports. Secret headers are plain in the file, as those of endpoints are. */
export const options = (kind: JobKind) =>
  ({
    timeoutMs: between(1000, 900_000),
    retry: json(JobOptions.retry, (retry) => optionColumns({ retry: retry as RetryOptions })),
    successStatuses: json(JobOptions.success_statuses),
    tags: json(JobOptions.tags),
    notes: asItIs,
    secretHeaders: secretHeaders(kind),
    isSigned: asItIs,
    reusesConnection: asItIs,
    deduplicationId: asItIs,
  }) as const

const secretHeaders = (kind: JobKind): Field<{ id: string }> => ({
  write: (value, { id }, sealing) =>
    createSecretHeaders(sealing).open(kind, id, sealedIn(`${value}`)),
  read(value, { id }, sealing) {
    requireShape(HeaderMap, value)
    return createSecretHeaders(sealing).stored(kind, id, value, null)
  },
})

/** Throws `invalid` for options that a client could not set. */
export function checkOptions({
  notes,
  deduplicationId,
}: Pick<CronJobRow, 'notes' | 'deduplicationId'>) {
  if (notes !== null && notes.length > MAX_NOTES)
    throw invalid(`must have at most ${MAX_NOTES} characters`, { field: 'notes', rule: 'too_long' })
  if (deduplicationId === '' || (deduplicationId ?? '').length > MAX_DEDUPLICATION_ID)
    throw invalid(`must have 1 to ${MAX_DEDUPLICATION_ID} characters`, {
      field: 'deduplication_id',
      rule: 'too_long',
    })
}
