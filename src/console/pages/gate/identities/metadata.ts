import type { JsonObject } from '../../../../engines/gate/documents/json.ts'
import { checkMetadata } from '../../../../engines/gate/traits.ts'
import { type Fields, parseJson } from '../../../../http/body.ts'
import { AppError, invalid } from '../../../../platform/errors.ts'
import { asTyped } from '../../../form.ts'

/** An object, or nothing for an empty one; whatever is wrong with it is wrong with the field. */
export function metadataIn(body: Fields): JsonObject {
  try {
    const metadata = parseJson(asTyped(body, 'metadata').trim()) ?? {}
    checkMetadata(metadata)
    return metadata
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw invalid(`metadata: ${error.message.replace(/^(body|metadata_public)[:.] ?/, '')}`)
  }
}
