import type { Component, Contents } from './components.ts'
import type { Embedded } from './supplied.ts'

/** The executable that a bill of materials is about. */
export interface Subject {
  version: string
  commit: string
  /** When the commit was made, in seconds: the same commit gives the same bytes. */
  time?: number
  /** SHA-256 of the executable as hexadecimal. */
  sha256: string
}

/** A bill of materials in the form of CycloneDX 1.7, as JSON. */
export function sbomText(subject: Subject, { components, imports }: Contents): string {
  const main = mainComponent(subject)
  const ref = main['bom-ref']
  const refs = components.map(({ purl }) => purl)
  const withParts = components.filter(({ embedded }) => embedded.length > 0)
  const body = {
    version: 1,
    metadata: {
      ...(subject.time !== undefined && { timestamp: new Date(subject.time * 1000).toISOString() }),
      lifecycles: [{ phase: 'build' }],
      component: main,
    },
    components: components.map(componentOf),
    dependencies: [
      { ref, dependsOn: [...imports].sort() },
      ...components.map(({ purl, imports }) => ({ ref: purl, dependsOn: [...imports].sort() })),
    ],
    // Which packages there are is known from the bundle, what they embed only as far as they say.
    compositions: [
      { aggregate: 'complete', dependencies: [ref, ...refs] },
      { aggregate: 'incomplete', assemblies: withParts.map(({ purl }) => purl) },
    ],
  }
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.7.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.7',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`,
    ...body,
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

function mainComponent({ version, commit, sha256 }: Subject) {
  const purl = `pkg:generic/gatehouse@${version}`
  return {
    type: 'application',
    'bom-ref': purl,
    name: 'gatehouse',
    version,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    licenses: [{ license: { id: 'MIT' } }],
    purl,
    properties: [{ name: 'gatehouse:commit', value: commit }],
  }
}

function componentOf({ name, version, licence, purl, integrity, kind, embedded }: Component) {
  const [, scope, short] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name) ?? []
  return {
    type: kind,
    'bom-ref': purl,
    ...(scope !== undefined && { group: scope }),
    name: short,
    version,
    hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }],
    licenses: licensesOf({ license: licence }),
    purl,
    ...(embedded.length > 0 && { components: embedded.map(partOf) }),
  }
}

const partOf = ({ name, version, purl, ...licence }: Embedded) => ({
  type: 'library',
  name,
  ...(version !== undefined && { version }),
  licenses: licensesOf(licence),
  ...(purl !== undefined && { purl }),
})

function licensesOf({ license, licenseName }: Pick<Embedded, 'license' | 'licenseName'>) {
  if (license === undefined) return [{ license: { name: licenseName } }]
  return license.includes(' ') ? [{ expression: license }] : [{ license: { id: license } }]
}

const hexOf = (integrity: string): string =>
  Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')

/** A UUID of the version for hashes in a form of one's own, 8, that follows from the text. */
function uuidOf(text: string): string {
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    variant + hash.slice(18, 20),
    hash.slice(20, 32),
  ].join('-')
}
