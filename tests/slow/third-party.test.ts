import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Version } from '@cyclonedx/cyclonedx-library/Spec'
import { JsonStrictValidator } from '@cyclonedx/cyclonedx-library/Validation'
import lock from '../../bun.lock'
import manifest from '../../package.json' with { type: 'json' }
import { readContents } from '../../scripts/build.ts'
import {
  allowedLicence,
  identifiersIn,
  noticesOf,
  suppliedFor,
  textOf,
} from '../../scripts/third-party/licences.ts'
import { noticesText } from '../../scripts/third-party/notices.ts'
import { ROOT } from '../../scripts/third-party/packages.ts'
import { partsIn, runtimeStatement } from '../../scripts/third-party/runtime.ts'
import { sbomText } from '../../scripts/third-party/sbom.ts'
import { SUPPLIED } from '../../scripts/third-party/supplied.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

/** The notices and the bill of materials of the software inside the executable. */

const contents = await readContents()
const notices = noticesText('1.2.3', contents.components)
const RUNTIME = `bun ${manifest.devDependencies.bun}`

test('The notices have a section of each package and of the runtime, with every copyright line and license', async () => {
  const sections = [...notices.matchAll(/^={80}\n(.+)\n(?:.+\n)+?={80}$/gm)].map(
    ([, title]) => title,
  )
  const direct = Object.entries(manifest.dependencies).map((entry) => entry.join(' '))
  expect(sections).toEqual(contents.components.map(({ name, version }) => `${name} ${version}`))
  expect(sections).toEqual(expect.arrayContaining([...direct, RUNTIME]))
  const lost = contents.components.flatMap(({ name }) => {
    const folder = join(ROOT, 'node_modules', name)
    const files = readdirSync(folder).filter((file) => /licen[cs]e|notice|copying/i.test(file))
    const lines = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split(/\r?\n/))
    return lines.filter((line) => /copyright|©/i.test(line) && !notices.includes(line.trim()))
  })
  expect(lost).toEqual([])
  for (const words of [
    'Copyright Mathias Bynens', // Copied into a package.
    'noble-hashes 2.4.0 | (c) Paul Miller', // Bundled by a package.
    'Copyright (c) 2020 Evgeny Poberezkin', // Under a license of its own within a package.
    'Copyright (c) 2015 Andrew Gallant', // Compiled into a WebAssembly module.
    'GNU LIBRARY GENERAL PUBLIC LICENSE', // Linked into the runtime.
  ])
    expect(notices).toContain(words)

  // The text of each license that they only name, once.
  const texts = notices.slice(notices.indexOf(`\n${'-'.repeat(80)}\nApache-2.0\n`))
  const embedded = contents.components.flatMap(({ embedded }) => embedded)
  const named = embedded.flatMap(({ license = '' }) => identifiersIn(license))
  for (const identifier of new Set([...named, 'LGPL-2.0-only', 'LGPL-2.1-only']))
    expect([identifier, texts.split(textOf(identifier)).length]).toEqual([identifier, 2])
  const bare = contents.components.filter(({ name }) => SUPPLIED[name]?.copyright)
  for (const { licence, texts } of bare) expect(texts).toContain(licence)

  using folder = temporaryFolder()
  const { code, out } = await cli(folder.path)('version', '--notices')
  expect([code, out]).toEqual([0, noticesText(manifest.version, contents.components)])
})

test('The notices have the crates that the WebAssembly module names, in these versions', () => {
  const { embedded = [] } = SUPPLIED['@cedar-policy/cedar-wasm'] ?? {}
  const crates = embedded.filter(({ name, version }) => version && name !== 'cedar-policy')
  const modulePath = '@cedar-policy/cedar-wasm/web/cedar_wasm_bg.wasm'
  const bytes = readFileSync(join(ROOT, 'node_modules', modulePath), 'latin1')
  const named = bytes.matchAll(/([a-z][a-z0-9_-]+-\d+\.\d+\.\d+)\/src\//g)
  const found = new Set(Array.from(named, ([, crate = '']) => crate))
  const listed = crates.map(({ name, version }) => `${name}-${version}`)
  expect(listed.sort()).toEqual([...found].sort())
})

test('A package needs an allowed license and a license file; a supplied one is compiled in, in this version alone', async () => {
  const check = (license?: string) => allowedLicence('some 1.0.0', license)
  const dual = ['(MIT OR GPL-3.0-only)', 'MIT AND ISC', 'GPL-2.0-only OR Apache-2.0']
  for (const license of ['MIT', 'BSD-0-Clause', ...dual]) check(license)
  const refused = ['UNLICENSED', 'GPL-3.0-only', 'MIT AND GPL-3.0-only']
  const nested = '(GPL-3.0-only OR MIT OR ISC) AND GPL-3.0-only'
  for (const license of [undefined, ...refused, '(GPL-3.0-only) AND (MIT OR ISC)', nested])
    expect(() => check(license)).toThrow(`some 1.0.0 is under ${license ?? 'no stated licence'},`)

  using folder = temporaryFolder()
  await Bun.write(join(folder.path, 'README.md'), 'MIT')
  const place = { name: '@some/package', version: '1.0.0', folder: relative(ROOT, folder.path) }
  const bare = { ...place, modules: [], integrity: '', imports: [] }
  expect(() => noticesOf(bare)).toThrow('@some/package 1.0.0 has no licence file')
  await Bun.write(join(folder.path, 'LICENSE'), 'Copyright (c) 2026 Some\n')
  expect(noticesOf(bare)).toEqual(['Copyright (c) 2026 Some'])
  for (const name of Object.keys(SUPPLIED)) {
    expect(() => suppliedFor({ name, version: '0.0.1' })).toThrow(', and this is 0.0.1: look up')
    expect(contents.components.map((one) => one.name)).toContain(name)
  }
})

test('The license page of the runtime lists its parts; the build fails if it is missing, about another version or unreadable', async () => {
  using folder = temporaryFolder()
  const statement = () => runtimeStatement('1.0.0', folder.path)
  const write = (name: string, text: string) => Bun.write(join(folder.path, name), text)
  expect(statement).toThrow('license.mdx is missing')
  await write('docs/project/license.mdx', '---\ntitle: License\n---\n\nMIT\n')
  await write('package.json', '{"version":"1.0.1"}')
  expect(statement).toThrow('is about Bun 1.0.1')
  await write('package.json', '{"version":"1.0.0"}')
  expect(statement()).toBe('MIT')
  const table = (...rows: string[]) =>
    ['| Name | License |', '| --- | --- |', ...rows, ''].join('\n')
  const page = (...rows: string[]) =>
    `## Linked libraries\n\n${table(...rows)}\n## Polyfills\n\n${table('| [`url`](u) | MIT |')}`
  const rows = ['| A fork of [`a`](u) 7 | BSD 3-Clause |', '| [`b`](u) | [several](v) |']
  expect(partsIn(page(...rows, '| [`c`](u) (on Windows) | MIT |'))).toEqual([
    { name: 'a', license: 'BSD-3-Clause' },
    { name: 'b', licenseName: 'several' },
    { name: 'url', license: 'MIT' },
  ])
  for (const [text, message] of [
    [page().replace('## Linked', '## Other'), 'no table "Linked libraries"'],
    [page(), 'no table "Linked libraries"'],
    [page('| a | MIT |'), 'a row without a name or a licence: | a | MIT |'],
  ] as const)
    expect(() => partsIn(text)).toThrow(message)
})

test('The bill of materials is valid CycloneDX 1.7, with the hash of each package, and leads to every component and no other', async () => {
  const subject = { version: '1.2.3', commit: 'abc', time: 1_767_225_600, sha256: 'a'.repeat(64) }
  const text = sbomText(subject, contents)
  expect(await new JsonStrictValidator(Version.v1dot7).validate(text)).toBeNull()
  const { metadata, components, dependencies } = JSON.parse(text)
  const known = new Map(
    Object.values<unknown[]>(lock.packages).map(([id, , , integrity]) => [
      id,
      Buffer.from(`${integrity}`.slice('sha512-'.length), 'base64').toString('hex'),
    ]),
  )
  for (const { purl, hashes } of components) {
    const id = purl.slice('pkg:npm/'.length).replace('%40', '@')
    expect([id, hashes]).toEqual([id, [{ alg: 'SHA-512', content: known.get(id) }]])
  }
  const graph = new Map<string, string[]>(
    dependencies.map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [
      ...[ref, dependsOn],
    ]),
  )
  const reached = new Set<string>([metadata.component['bom-ref']])
  for (const ref of reached) for (const next of graph.get(ref) ?? []) reached.add(next)
  const refs = components.map((one: { 'bom-ref': string }) => one['bom-ref'])
  expect([...reached].sort()).toEqual([metadata.component['bom-ref'], ...refs].sort())
  expect([...graph.keys()].sort()).toEqual([...reached].sort())
  const runtime = components.at(-1)
  expect(runtime).toMatchObject({ type: 'platform', name: 'bun' })
  const licenses = [{ license: { name: 'LGPL-2' } }]
  const core = expect.objectContaining({ name: 'JavaScriptCore', licenses })
  expect(runtime.components).toContainEqual(core)
})
