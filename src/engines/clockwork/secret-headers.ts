import { keepMasked } from '../../delivery/custom-headers.ts'
import { checkHeaders } from '../../platform/outbound/index.ts'
import { SealError, type Sealing } from '../../platform/sealing/index.ts'
import { MASK } from '../../platform/secret-headers.ts'
import { cronJobHeaders, delayedJobHeaders } from './sealed.ts'

type Headers = Record<string, string>
export type JobKind = 'cron' | 'delayed'

/** The column: names can be shown without the master key. */
export interface StoredHeaders {
  names: string[]
  sealed: string
}

export type SecretHeaders = ReturnType<typeof createSecretHeaders>

/** Headers of jobs whose values are sealed, and masked in every response. */
export function createSecretHeaders(sealing: Sealing) {
  const columnOf = (kind: JobKind) => (kind === 'cron' ? cronJobHeaders : delayedJobHeaders)

  function open(kind: JobKind, id: string, sealed: string | null): Headers {
    if (sealed === null) return {}
    const { purpose, boundTo } = columnOf(kind)
    return JSON.parse(sealing.open(purpose, boundTo({ id }), sealed))
  }

  /** The headers in a column; none if they were sealed with another master key. */
  function readable(kind: JobKind, id: string, column: string | null): Headers {
    try {
      return open(kind, id, sealedIn(column))
    } catch (error) {
      if (error instanceof SealError) return {}
      throw error
    }
  }

  /** The column for new headers. A masked value stays as it is stored. */
  function stored(kind: JobKind, id: string, next: Headers, old: string | null): string | null {
    const field = 'secret_headers'
    checkHeaders(next, field)
    const known = readable(kind, id, old)
    const headers = keepMasked(next, known, { field, isSecret: () => true })
    const names = Object.keys(headers)
    if (names.length === 0) return null
    if (JSON.stringify(headers) === JSON.stringify(known)) return old
    const { purpose, boundTo } = columnOf(kind)
    const sealed = sealing.seal(purpose, boundTo({ id }), JSON.stringify(headers))
    return JSON.stringify({ names, sealed } satisfies StoredHeaders)
  }

  return { open, readable, stored }
}

const parsed = (column: string): StoredHeaders => JSON.parse(column)

export const sealedIn = (column: string | null): string | null =>
  column === null ? null : parsed(column).sealed

export const maskedIn = (column: string | null): Headers =>
  column === null ? {} : Object.fromEntries(parsed(column).names.map((name) => [name, MASK]))
