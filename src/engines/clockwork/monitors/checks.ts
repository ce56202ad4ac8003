import { invalid } from '../../../platform/errors.ts'
import { MAX_NOTES_LENGTH, MAX_SECONDS, MAX_TAG_LENGTH, MAX_TAGS, MIN_SECONDS } from './limits.ts'
import type { MonitorRow } from './store.ts'

const MAX_NAME_LENGTH = 255
const TAG = /^[^\s,\p{Cc}]+$/u

type Described = Pick<MonitorRow, 'name' | 'notes' | 'tags' | 'periodSeconds' | 'graceSeconds'>

/** Throws `invalid` for values that the API doesn't take, for forms and imports. */
export function checkDescription({ name, notes, tags, periodSeconds, graceSeconds }: Described) {
  if (name.length < 1 || name.length > MAX_NAME_LENGTH)
    throw invalid(`must have 1 to ${MAX_NAME_LENGTH} characters`, {
      field: 'name',
      rule: 'too_long',
    })
  if (notes.length > MAX_NOTES_LENGTH)
    throw invalid(`must have at most ${MAX_NOTES_LENGTH} characters`, {
      field: 'notes',
      rule: 'too_long',
    })
  checkTags(JSON.parse(tags))
  if (periodSeconds !== null) checkSeconds(periodSeconds, 'period_seconds')
  checkSeconds(graceSeconds, 'grace_seconds')
}

function checkTags(tags: readonly string[]) {
  if (tags.length > MAX_TAGS)
    throw invalid(`must have at most ${MAX_TAGS} words`, { field: 'tags', rule: 'too_many' })
  if (!tags.every((tag) => tag.length <= MAX_TAG_LENGTH && TAG.test(tag)))
    throw invalid(`must be words of up to ${MAX_TAG_LENGTH} characters without commas`, {
      field: 'tags',
      rule: 'format',
    })
}

function checkSeconds(seconds: number, field: string) {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS)
    throw invalid('must be between 1 minute and 366 days', { field, rule: 'range' })
}
