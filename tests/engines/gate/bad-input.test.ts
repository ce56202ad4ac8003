import { expect, test } from 'bun:test'
import { IDENTITIES, type Json, useGate } from './fixture.ts'

// What is wrong by type, bounds or absence is in tests/contract/bodies.test.ts.

const { app, newTenant } = await useGate()

const GOOD = { schema_id: 'user', traits: { email: 'new@example.com' } }
const withTraits = (traits: Json) => ({ ...GOOD, traits: { ...GOOD.traits, ...traits } })
const withCredentials = (credentials: Json) => ({ ...GOOD, credentials })
const withConfig = (config: Json) => withCredentials({ password: { config } })
const withAddress = (address: Json) => ({ ...GOOD, verifiable_addresses: [address] })

const CONFIG = 'credentials.password.config'

// All addresses are in identities/identities.test.ts, all formats in credentials/passwords/formats.test.ts.
const EMAILS = ['x', 'x@example.com\r\nBcc: y@example.com', 'x\u0000@example.com']
const HASHES = ['secret', '$1$salt$qJH7.N4xYta3aEG/dfqo/0', `$argon2id$${'x'.repeat(600)}`]

/** Bodies of a new identity, by the name of the field that is wrong in them. */
const WRONG: [string, Json[]][] = [
  [
    'schema_id',
    [
      { ...GOOD, schema_id: 'User' },
      { ...GOOD, schema_id: 'operator' },
    ],
  ],
  ['traits.email', EMAILS.map((email) => withTraits({ email }))],
  ['traits.name', [withTraits({ name: 'Ada' })]],
  ['traits.Email', [withTraits({ Email: 'new@example.com' })]],
  ['traits.constructor', [withTraits({ constructor: {} })]],
  ['traits.', [withTraits({ '': 1 })]],
  [`traits.${'x'.repeat(100)}`, [withTraits({ ['x'.repeat(5000)]: 1 })]],
  ...['oidc', 'totp', 'code', 'Password', ''].map((kind): [string, Json[]] => [
    `credentials.${kind}`,
    [withCredentials({ [kind]: { config: {} } })],
  ]),
  [CONFIG, [withConfig({}), withConfig({ password: 'secret', hashed_password: '$2b$04$x' })]],
  [`${CONFIG}.password`, ['', '😀'.repeat(1025)].map((password) => withConfig({ password }))],
  [`${CONFIG}.hashed_password`, HASHES.map((hashed_password) => withConfig({ hashed_password }))],
  ['verifiable_addresses.0.value', [withAddress({}), withAddress({ value: 5 })]],
  ['verifiable_addresses.0.verified', [withAddress({ value: 'new@example.com', verified: 'yes' })]],
  [
    'verifiable_addresses.value',
    [withAddress({ value: 'x' }), withAddress({ value: 'other@example.com', verified: true })],
  ],
]

test.each(WRONG)('An identity is refused by the name of the field %s', async (field, bodies) => {
  const { api, id } = await newTenant()
  for (const body of bodies) {
    const answer = await api.post(IDENTITIES, body)
    expect(answer, JSON.stringify(body).slice(0, 200)).toMatchObject({ status: 400 })
    expect(answer.body.error).toStartWith(`${field}`)
  }
  expect((await api.get(IDENTITIES)).body.data).toEqual([])
  const events = app.db.client.query('select * from messages where tenant_id = ?').all(id)
  expect(events).toEqual([])
})

const NEW = '{"schema_id":"user","traits":{"email":"new@example.com"'

/** Every field that takes a tenant's own JSON: its name in errors, its route and the body around it. */
const OWN_JSON = [
  ['metadata_public', 'POST', '', (value: string) => `${NEW}},"metadata_public":{"x":${value}}}`],
  ['traits.custom_data', 'POST', '', (value: string) => `${NEW},"custom_data":{"x":${value}}}}`],
  [
    'value',
    'PATCH',
    '/id',
    (value: string) => `[{"op":"add","path":"/metadata_public/x","value":{"x":${value}}}]`,
  ],
  ['metadata_public', 'PATCH', '/id/metadata', (value: string) => `{"x":${value}}`],
] as const

/** Values that JSON allows and JavaScript changes, with the place that an error names. */
const UNSAFE: [string, string][] = [
  ['9007199254740992', '.x'],
  ['-9007199254740993', '.x'],
  ['123456789012345678901234567890', '.x'],
  ['1e20', '.x'],
  ['1e309', '.x'],
  ['-1e400', '.x'],
  ['{"__proto__":{"polluted":1}}', '.x.__proto__'],
  ['{"a":[{"\\u005f_proto__":1}]}', '.x.a.0.__proto__'],
]

test.each(OWN_JSON)(
  'Unsafe values are refused in %s of %s %s',
  async (field, method, path, around) => {
    const tenant = await newTenant()
    const identity = await tenant.createIdentity()
    const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' }
    for (const [value, place] of UNSAFE) {
      const where = IDENTITIES + path.replace('id', identity.id)
      const answer = await app.raw(where, { method, headers, body: around(value) })
      expect(answer, value).toMatchObject({ status: 400 })
      expect(answer.body.error, value).toContain(`${field}${place}: `)
    }
    expect(await tenant.readIdentity(identity)).toEqual(identity)
    expect(({} as Json).polluted).toBeUndefined()
  },
)

test('A member __proto__ is not inherited from', async () => {
  for (const text of [
    `${NEW}},"__proto__":{"state":"inactive"}}`,
    `${NEW}},"credentials":{"__proto__":{"password":{"config":{"password":"x"}}}}}`,
    '{"schema_id":"user","traits":{"__proto__":{"email":"proto@example.com"}}}',
  ]) {
    const { key } = await newTenant()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const { status, body } = await app.raw(IDENTITIES, { method: 'POST', headers, body: text })
    if (status === 201) expect(body).toMatchObject({ state: 'active', credentials: {} })
    else expect(status).toBe(400)
    expect(({} as Json).state).toBeUndefined()
    expect(JSON.stringify(body)).not.toContain('proto@')
  }
})
