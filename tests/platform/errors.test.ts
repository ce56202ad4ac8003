import { expect, test } from 'bun:test'
import { AppError, invalid, notFound, renamed } from '../../src/platform/errors.ts'

test('an error about a field names it before what is wrong', () => {
  const error = invalid('must be an http or https URL', { field: 'url', rule: 'format' })

  expect(error.message).toBe('url: must be an http or https URL')
  expect(error).toMatchObject({
    kind: 'invalid',
    code: 'invalid',
    field: 'url',
    rule: 'format',
    problem: 'must be an http or https URL',
  })
})

test('an error about no field is its sentence', () => {
  const error = notFound('job not found')

  expect(error).toMatchObject({ message: 'job not found', problem: 'job not found' })
  expect(error.field).toBeUndefined()
  expect(error.rule).toBeUndefined()
})

test('several field errors are lines of one message', () => {
  const error = new AppError('invalid', [
    { field: 'policies', rule: 'format', problem: 'unexpected token', at: { line: 3, column: 5 } },
    { field: 'policies', rule: 'too_many', problem: 'and 2 more' },
  ])

  expect(error.message).toBe('policies: line 3, column 5: unexpected token\npolicies: and 2 more')
  expect(error.fieldErrors).toHaveLength(2)
})

test('an error is renamed for an input with other names, and keeps everything else', () => {
  const error = new AppError('conflict', 'is in use', {
    field: 'traits.email',
    rule: 'taken',
    code: 'email_taken',
    retryAfterMs: 5,
    detail: { id: 'x' },
  })

  expect(renamed(error, (field) => `identity.${field}`, 'line 12')).toMatchObject({
    kind: 'conflict',
    message: 'line 12: identity.traits.email: is in use',
    field: 'identity.traits.email',
    rule: 'taken',
    problem: 'is in use',
    code: 'email_taken',
    retryAfterMs: 5,
    detail: { id: 'x' },
  })
})
