import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { lenient, oneOf, Timestamp } from '../../../http/schemas.ts'

const Context = t.Object(
  {},
  {
    additionalProperties: true,
    expected: 'a JSON object',
    description: 'Facts for policies, supplied by the caller and not verified.',
  },
)

const Subject = t.String({
  minLength: 1,
  maxLength: 256,
  expected: 'a string of 1 to 256 characters',
  description: 'ID of a user, or the name of a service.',
  examples: ['billing'],
})
const Action = t.String({ expected: 'a dotted name', examples: ['invoices.read'] })
const Resource = t.String({
  expected: 'a type and an ID separated by a colon',
  examples: ['document:42'],
})

export const Question = lenient({
  subject: Subject,
  action: Action,
  resource: Resource,
  context: t.Optional(Context),
})
export type Question = typeof Question.static

export const Answer = t.Object({
  allowed: t.Boolean(),
  decision_id: t.String(),
  reason: t.String(),
})
export type Answer = typeof Answer.static

export const Decision = t.Object({
  decision_id: t.String(),
  at: Timestamp,
  environment: oneOf(['live', 'test']),
  key_id: t.String(),
  subject: t.String(),
  action: t.String(),
  resource: t.String(),
  context: Context,
  allowed: t.Boolean(),
  reason: t.String(),
  policies: t.Array(t.String(), { description: 'The policies that determined the decision.' }),
  policies_version: Type.Integer({ description: '0 for the starter set.' }),
})
export type Decision = typeof Decision.static

const Properties = t.Optional(Context)

/** OpenID AuthZEN, Authorization API 1.0, section 6. */
export const Evaluation = lenient({
  subject: lenient({
    type: t.String({ minLength: 1, expected: 'a string', examples: ['user'] }),
    id: Subject,
    properties: Properties,
  }),
  action: lenient({
    name: t.String({ expected: 'a dotted name', examples: ['invoices.read'] }),
    properties: Properties,
  }),
  resource: lenient({
    type: t.String({ minLength: 1, expected: 'a string', examples: ['document'] }),
    id: t.String({ minLength: 1, expected: 'a string', examples: ['42'] }),
    properties: Properties,
  }),
  context: t.Optional(Context),
})
export type Evaluation = typeof Evaluation.static

export const Evaluated = t.Object({
  decision: t.Boolean(),
  context: t.Object({ decision_id: t.String(), reason: t.String() }),
})
export type Evaluated = typeof Evaluated.static
