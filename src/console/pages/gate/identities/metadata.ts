import { rawText } from '../../../../../views/console/form/values.ts'
import type { JsonObject } from '../../../../engines/gate/identities/documents/json.ts'
import { checkMetadata } from '../../../../engines/gate/identities/traits.ts'
import { type Fields, parseJson } from '../../../../http/body.ts'
import { AppError, renamed } from '../../../../platform/errors.ts'

/** The object in a form's field, `{}` for an empty one. */
export function metadataIn(body: Fields): JsonObject {
  try {
    const metadata = parseJson((rawText(body, 'metadata') ?? '').trim()) ?? {}
    checkMetadata(metadata)
    return metadata
  } catch (error) {
    throw error instanceof AppError ? renamed(error, asInForm) : error
  }
}

/** The text as a whole is the body to its parser. */
const asInForm = (field = 'body'): string => field.replace(/^(body|metadata_public)/, 'metadata')
