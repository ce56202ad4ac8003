import { AppError, invalid } from '../errors.ts'
import type { Outbound } from './client.ts'

/** `outbound.checkUrl` for the field `url` of a request: throws `invalid`, naming field and rule. */
export function checkUrlField(outbound: Outbound, url: string) {
  try {
    outbound.checkUrl(url)
  } catch (error) {
    throw error instanceof AppError ? invalid(`url: ${error.message}`) : error
  }
}
