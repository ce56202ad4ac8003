import { messageOf } from '../../db/errors.ts'
import { AppError, forbidden, notFound, unavailable } from '../errors.ts'
import { isMissingKey } from './fetch.ts'
import { parseObjectUrl } from './location.ts'

/** An error of the client as an `AppError` that says what to do. `endpoint` is the server's URL. */
export function explained(error: unknown, url: string, endpoint: string): AppError {
  if (error instanceof AppError) return error
  const { status, serviceCode = '' } = refusalIn(error)
  if (status === undefined) return unavailable(`${endpoint} cannot be reached: ${reasonOf(error)}`)
  if (serviceCode === 'NoSuchBucket') return noBucket(url, endpoint)
  if (isMissingKey(status, serviceCode)) return notFound(`${url} does not exist`)
  if (REGION_CODES.has(serviceCode))
    return unavailable(
      `${endpoint} expects another region (${serviceCode}). Set [s3] region to that of the bucket`,
    )
  if (status === 401 || status === 403)
    return forbidden(
      `${endpoint} refuses the credentials for ${url} (${serviceCode}). Check [s3] access_key_id ` +
        'and secret_access_key, and that they may read, write, list and delete there',
    )
  return unavailable(`${endpoint} refuses ${url}: HTTP ${status}, ${serviceCode}`)
}

/** Rethrows any other error than that there is no such object. */
export function ignoreMissing(error: unknown) {
  const { status, serviceCode } = refusalIn(error)
  if (status !== 404 || serviceCode === 'NoSuchBucket') throw error
}

/** Whether the condition of a write was not met, or the object has changed meanwhile. */
export function isConditionUnmet(error: unknown): boolean {
  const { status = 0, serviceCode = '' } = refusalIn(error)
  return status === 412 || status === 409 || isMissingKey(status, serviceCode)
}

/** Whether the same request may succeed a little later. */
export function isTemporary(error: unknown): boolean {
  const { status } = refusalIn(error)
  return status === undefined || status >= 500 || status === 429
}

export const noBucket = (url: string, endpoint: string) =>
  notFound(`there is no bucket ${parseObjectUrl(url).bucket} at ${endpoint}. Create it first`)

const REGION_CODES = new Set([
  'AuthorizationHeaderMalformed',
  'PermanentRedirect',
  'IllegalLocationConstraintException',
])

interface Refusal {
  status?: number
  serviceCode?: string
}

/** The client wraps some errors; its own error and ours have a status and a code. */
function refusalIn(error: unknown): Refusal {
  if (!(error instanceof Error)) return {}
  const own = error as Refusal
  return own.status === undefined && error.cause ? refusalIn(error.cause) : own
}

const reasonOf = (error: unknown): string =>
  (error as { code?: string } | null)?.code ?? messageOf(error)
