import { CodedErrors } from '../../../http/responses.ts'

const {
  400: Invalid,
  401: NoKey,
  403: WrongKey,
  413: TooLarge,
  415: NotJson,
  503: Unavailable,
} = CodedErrors

/** What any route may answer. */
export const refused = { 401: NoKey, 403: WrongKey, 503: Unavailable }

/** What a route with a query may answer besides. */
export const badQuery = { 400: Invalid }

/** What a route with a body may answer besides. */
export const badBody = { 400: Invalid, 413: TooLarge, 415: NotJson }
