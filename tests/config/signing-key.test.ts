import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { configOf, errorsOf, originsOf } from './support.ts'

const pemOf = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string

const key = pemOf('P-256')
const client = '[gate.providers.apple]\nclient_id = "a"\nteam_id = "b"\nkey_id = "c"\n'
const prefix = 'GATEHOUSE_GATE_PROVIDERS_APPLE'
const refusal = 'must be a P-256 private key in PEM format'

const keyIn = (input: Parameters<typeof configOf>[0]) =>
  configOf(input).gate.providers.apple.privateKey

describe('the key that a client of Apple signs with', () => {
  test('may stand in the file, over several lines', () => {
    expect(keyIn({ toml: `${client}private_key = """\n${key}"""` })).toBe(key)
  })

  test('may stand in a file of its own, as Apple hands it out', () => {
    const toml = `${client}private_key_file = "AuthKey.p8"`

    expect(keyIn({ toml, files: { '/app/AuthKey.p8': key } })).toBe(key)
  })

  test('may stand in a variable, with its line breaks spelt out', () => {
    const env = { [`${prefix}_PRIVATE_KEY`]: key.replaceAll('\n', '\\n') }

    expect(keyIn({ toml: client, env })).toBe(key)
  })

  test.each([
    ['of another curve', pemOf('P-384')],
    [
      'of RSA',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
        type: 'pkcs8',
        format: 'pem',
      }),
    ],
    ['that is broken', key.slice(0, 60)],
  ])('is refused when it is one %s', (_, other) => {
    const [error = ''] = errorsOf({ toml: `${client}private_key = """${other}"""` })

    expect(error).toEndWith(`[gate.providers.apple] private_key: ${refusal}`)
    expect(error).not.toContain('BEGIN')
  })

  test('counts as a secret', () => {
    const input = { toml: `${client}private_key = """${key}"""` }

    expect(originsOf(input).get('gate.providers.apple.private_key')?.source).toBe('file')
    expect(JSON.stringify(errorsOf({ toml: `${input.toml}\nclient_secret = "x"` }))).not.toContain(
      key.split('\n')[1] as string,
    )
  })
})
