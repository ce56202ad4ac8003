import { t } from 'elysia'
import { MAX_CHANNELS } from '../limits.ts'

/** `expected` is what an error message says about an invalid value. */
export const EventType = t.String({
  expected: 'a dotted name like user.created',
  examples: ['user.created'],
})
export const channels = (description: string) =>
  t.Array(t.String({ expected: 'the name of a channel' }), {
    maxItems: MAX_CHANNELS,
    expected: `a list of up to ${MAX_CHANNELS} channels`,
    description,
  })
export const AnyObject = t.Record(t.String(), t.Unknown(), { expected: 'a JSON object' })
export const Payload = t.Object({}, { additionalProperties: true, expected: 'a JSON object' })
