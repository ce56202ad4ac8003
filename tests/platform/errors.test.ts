import { expect, test } from 'bun:test'
import { AppError, invalid, notFound, renamed } from '../../src/platform/errors.ts'

test('An error names its field before the problem; without a field it is its sentence', () => {
  const problem = 'must be an http or https URL'
  const options = { field: 'url', rule: 'format' } as const
  const error = invalid(problem, options)
  expect(error.message).toBe(`url: ${problem}`)
  expect(error).toMatchObject({ kind: 'invalid', code: 'invalid', problem, ...options })
  const plain = notFound('job not found')
  expect(plain).toMatchObject({ message: 'job not found', problem: 'job not found' })
  expect([plain.field, plain.rule]).toEqual([undefined, undefined])
})

test('A renamed error keeps everything but the field', () => {
  const kept = { rule: 'taken', code: 'email_taken', retryAfterMs: 5, detail: { id: 'x' } } as const
  const error = new AppError('conflict', 'is in use', { field: 'traits.email', ...kept })
  expect(renamed(error, (field) => `identity.${field}`, 'line 12')).toMatchObject({
    kind: 'conflict',
    message: 'line 12: identity.traits.email: is in use',
    field: 'identity.traits.email',
    problem: 'is in use',
    ...kept,
  })
})
