import { describe, expect, test } from 'bun:test'
import {
  type Projection,
  patchIdentity,
} from '../../../../../src/engines/gate/identities/documents/projection.ts'
import { frozen, refusalOf } from './support.ts'

const IDENTITY: Projection = frozen({
  traits: {
    email: 'ann@acme.example',
    tenant_id: 'tnt_1',
    custom_data: { plan: 'pro', seats: [1] },
  },
  metadata_public: { roles: ['admin'] },
  state: 'active',
})

const patched = (...operations: unknown[]) => patchIdentity(IDENTITY, operations)
const refused = (...operations: unknown[]) => refusalOf(() => patched(...operations))

/** Each operation with the pointer in each of its places. */
const everywhere = (pointer: string) => [
  { op: 'add', path: pointer, value: 'x' },
  { op: 'remove', path: pointer },
  { op: 'replace', path: pointer, value: 'x' },
  { op: 'test', path: pointer, value: 'tnt_1' },
  { op: 'move', path: pointer, from: '/metadata_public/roles' },
  { op: 'copy', path: pointer, from: '/metadata_public/roles' },
  { op: 'move', path: '/metadata_public/x', from: pointer },
  { op: 'copy', path: '/metadata_public/x', from: pointer },
]

test('traits, metadata and state can be patched', () => {
  const identity = patched(
    { op: 'test', path: '/state', value: 'active' },
    { op: 'replace', path: '/traits/email', value: 'ann@new.example' },
    { op: 'add', path: '/traits/custom_data/seats/-', value: 2 },
    { op: 'move', from: '/traits/custom_data/plan', path: '/metadata_public/plan' },
    { op: 'copy', from: '/metadata_public/roles/0', path: '/traits/custom_data/role' },
    { op: 'remove', path: '/metadata_public/roles' },
    { op: 'replace', path: '/state', value: 'inactive' },
  )

  expect(identity).toEqual({
    traits: {
      email: 'ann@new.example',
      tenant_id: 'tnt_1',
      custom_data: { seats: [1, 2], role: 'admin' },
    },
    metadata_public: { plan: 'pro' },
    state: 'inactive',
  })
})

test('a part can be replaced as a whole, taken out, or made something else', () => {
  expect(
    patched({ op: 'replace', path: '/traits', value: { email: 'x@y.example' } }).traits,
  ).toEqual({ email: 'x@y.example' })
  expect(patched({ op: 'remove', path: '/metadata_public' })).not.toHaveProperty('metadata_public')
  expect(patched({ op: 'add', path: '/state', value: 7 }).state).toBe(7)
})

describe('nothing else of an identity can be patched or read', () => {
  test.each([
    ['/credentials', '/credentials'],
    ['/credentials/password/config/hashed_password', '/credentials'],
    ['/id', '/id'],
    ['/schema_id', '/schema_id'],
    ['/schema_url', '/schema_url'],
    ['/state_changed_at', '/state_changed_at'],
    ['/verifiable_addresses/0/verified', '/verifiable_addresses'],
    ['/recovery_addresses/-', '/recovery_addresses'],
    ['/created_at', '/created_at'],
    ['/updated_at', '/updated_at'],
    ['/metadata_admin', '/metadata_admin'],
    ['/', '/'],
    ['//traits/email', '/'],
    ['/Traits/email', '/Traits'],
    ['/TRAITS/tenant_id', '/TRAITS'],
    ['/traits ', '/traits '],
    ['/trait', '/trait'],
    ['/traits~1tenant_id', '/traits~1tenant_id'],
    ['/State', '/State'],
    ['/stateful', '/stateful'],
    ['/metadata_public~0', '/metadata_public~0'],
    ['/constructor/traits/tenant_id', '/constructor'],
    ['/toString', '/toString'],
    ['/0', '/0'],
    ['/-', '/-'],
    ['/traits/tenant_id', '/traits/tenant_id'],
    ['/traits/tenant_id/x', '/traits/tenant_id'],
    ['/traits/tenant_id/', '/traits/tenant_id'],
  ])('%s', (pointer, named) => {
    for (const operation of everywhere(pointer))
      expect(refused(operation)).toMatch(new RegExp(`^operation 0 \\(${operation.op} .*\\): `))
    for (const operation of everywhere(pointer))
      expect(refused(operation)).toEndWith(`): ${named} cannot be patched`)
  })

  test('the document as a whole', () => {
    for (const operation of everywhere(''))
      expect(refused(operation)).toEndWith('cannot be patched')
  })

  test('the tenant, on a way round by names that lead nowhere', () => {
    const ways = ['constructor', 'prototype', '', '.', '..', 'traits', '-', '0']

    for (const way of ways)
      for (const operation of everywhere(`/traits/${way}/tenant_id`))
        expect(refused(operation)).toStartWith(`operation 0 (${operation.op} `)
  })
})

test('a tenant_id elsewhere is a member like any other', () => {
  expect(
    patched({ op: 'add', path: '/metadata_public/tenant_id', value: 'theirs' }).metadata_public,
  ).toEqual({ roles: ['admin'], tenant_id: 'theirs' })
})

test('a refused operation keeps the others from being carried out, and is named', () => {
  expect(
    refused(
      { op: 'replace', path: '/state', value: 'inactive' },
      { op: 'copy', from: '/credentials', path: '/metadata_public/c' },
    ),
  ).toBe('operation 1 (copy /metadata_public/c from /credentials): /credentials cannot be patched')
})

test('two full documents fit, so that each can be edited', () => {
  const data = 'x'.repeat(65_536 - 8)
  const full = { ...IDENTITY, metadata_public: { a: data }, traits: { custom_data: { a: data } } }

  const identity = patchIdentity(full, [
    { op: 'replace', path: '/metadata_public/a', value: `${data.slice(1)}y` },
    { op: 'add', path: '/traits/email', value: `${'a'.repeat(64)}@${'b'.repeat(180)}.example` },
  ])

  expect(identity.metadata_public).toEqual({ a: `${data.slice(1)}y` })
})

test('a patch has 200 operations at the most and makes nothing of more than two full documents', () => {
  const add = (n: number) => ({ op: 'add', path: `/metadata_public/${n}`, value: 'x'.repeat(1000) })

  expect(refused(...Array(201).fill(add(0)))).toBe('body: must be an array of up to 200 operations')
  expect(refused(...Array.from({ length: 200 }, (_, n) => add(n)))).toMatch(
    /^operation 1[23]\d \(add .*\): would make the document larger than 135168 bytes$/,
  )
})
