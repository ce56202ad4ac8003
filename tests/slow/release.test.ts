import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { basename, join, normalize } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import manifest from '../../package.json' with { type: 'json' }
import { writeArchive } from '../../scripts/release/archive.ts'
import { checksums } from '../../scripts/release/checksums.ts'
import { removeEarlier } from '../../scripts/release/earlier.ts'
import { formatOf } from '../../scripts/release/inspect.ts'
import { runtimeProject } from '../../scripts/release/runtimes.ts'
import { changelogSection, tagErrors } from '../../scripts/release/source.ts'
import { chooseTargets, TARGETS } from '../../scripts/release/targets.ts'
import { temporaryFolder } from '../support/folder.ts'

const ROOT = join(import.meta.dir, '../..')
const read = (path: string) => Bun.file(join(ROOT, path)).text()
const PINNED = manifest.devDependencies.bun

test('A release is for all targets or named ones, with runtimes of the pinned version and the hash of bun.lock', async () => {
  expect(chooseTargets([])).toEqual(TARGETS)
  expect(chooseTargets(['linux-arm64']).map(({ name }) => name)).toEqual(['linux-arm64'])
  const names = 'linux-x64, linux-arm64, darwin-arm64'
  expect(() => chooseTargets(['linux-x64', 'x'])).toThrow(`no target x; there is ${names}`)

  const { lock } = runtimeProject(TARGETS.map(({ runtime }) => runtime))
  const packages = Object.entries<unknown[]>(JSON.parse(lock).packages)
  expect(packages.map(([name]) => name)).toEqual(TARGETS.map(({ runtime }) => runtime))
  const repositoryLock = await read('bun.lock')
  for (const [name, [id, , , integrity]] of packages) {
    expect([id, integrity]).toEqual([`${name}@${PINNED}`, expect.stringMatching(/^sha512-/)])
    expect(repositoryLock).toContain(`"${integrity}"`)
  }
  expect(() => runtimeProject(['@oven/bun-x'])).toThrow('no sha512 of @oven/bun-x@')
})

test('The header of an executable tells its machine', () => {
  const header = (bytes: number[], at: number, field: number[]) => {
    const header = Buffer.alloc(32)
    header.set(bytes)
    header.set(field, at)
    return formatOf(header)
  }
  const elf = (machine: number) => header([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 18, [machine, 0])
  const macho = (cpu: number) => header([0xcf, 0xfa, 0xed, 0xfe], 4, [cpu, 0, 0, 1])
  expect([elf(0x3e), elf(0xb7), macho(0x0c)]).toEqual(TARGETS.map(({ format }) => format))
  const others = [elf(0xf3), macho(0x07), formatOf(Buffer.from('#!/bin/sh'.padEnd(32)))]
  expect(others).toEqual(['ELF', 'Mach-O x86-64', 'no executable'])
})

test('A tag names the version, and the changelog has a dated section with text for it', async () => {
  const changelog = [
    '# Changelog\n\n## [1.10.0] - unreleased\n\n### Added\n\n- Later.\n',
    '## [1.1.0] - 2026-01-02\n\n### Added\n\n- Something.\n',
    '## [1.0.0] - 2026-01-01\n',
  ].join('\n')
  const section = { date: '2026-01-02', text: '### Added\n\n- Something.' }
  expect(changelogSection(changelog, '1.1.0')).toEqual(section)
  const noName = (tag: string, version: string) =>
    `the tag ${tag} is not v${version}, as package.json has it`
  const noText = (version: string) => `CHANGELOG.md has no section [${version}] with a text`
  for (const [tag, version, errors] of [
    ['v1.1.0', '1.1.0', []],
    ['1.1.0', '1.1.0', [noName('1.1.0', '1.1.0')]],
    ['v1', '1.1.1', [noName('v1', '1.1.1'), noText('1.1.1')]],
    ['v1.0.0', '1.0.0', [noText('1.0.0')]],
    ['v1.10.0', '1.10.0', ['CHANGELOG.md has no date for [1.10.0]: ## [1.10.0] - YYYY-MM-DD']],
  ] as const)
    expect(tagErrors(tag, version, changelog)).toEqual([...errors])
  expect(changelogSection(await read('CHANGELOG.md'), manifest.version)?.text).toContain('- ')
})

/** The files of an archive by their path within its folder, and its bytes. */
async function archived() {
  using folder = temporaryFolder()
  const executable = join(folder.path, 'gatehouse-1.2.3-plan9')
  const outfile = `${executable}.tar.gz`
  await Bun.write(executable, 'not really')
  const companions = { 'THIRD-PARTY-NOTICES': 'notices', 'gatehouse.cdx.json': '{}' }
  await writeArchive({ root: ROOT, executable, companions, outfile, time: 1_767_225_600 })
  const bytes = await Bun.file(outfile).bytes()
  const entries = extract()
  entries.end(Bun.gunzipSync(bytes))
  const files = new Map<string, { mode: number | undefined; text: string }>()
  for await (const entry of entries) {
    const { name, mode } = entry.header
    const text = (await buffer(entry)).toString()
    files.set(name.replace('gatehouse-1.2.3-plan9/', ''), { mode, text })
  }
  return { bytes, files }
}

test('An archive has everything in one folder, all files that its documentation links to, and the same bytes again', async () => {
  const { bytes, files } = await archived()
  expect(files.get('gatehouse')).toEqual({ mode: 0o755, text: 'not really' })
  expect(files.get('THIRD-PARTY-NOTICES')).toEqual({ mode: 0o644, text: 'notices' })
  expect(files.get('gatehouse.cdx.json')).toEqual({ mode: 0o644, text: '{}' })
  expect(files.get('docs/gatehouse.service')?.text).toBe(await read('docs/gatehouse.service'))
  expect([...files.keys()].filter((name) => /^[./]|\.\.|\\/.test(name))).toEqual([])
  const pages = [...files].filter(([name]) => /^(README|docs\/.+)\.md$/.test(name))
  const linked = pages.flatMap(([name, { text }]) =>
    [...text.matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) =>
      normalize(join(name, '..', target)),
    ),
  )
  expect(pages.length).toBeGreaterThan(20)
  expect(linked.filter((path) => !files.has(path))).toEqual([])
  expect((await archived()).bytes).toEqual(bytes)
})

test('Files of an earlier release are removed, and no others; checksums are in the form of sha256sum', async () => {
  using folder = temporaryFolder()
  const earlier = ['gatehouse-0.0.9-linux-x64', 'gatehouse-0.0.9-linux-x64.tar.gz']
  const parts = ['gatehouse-0.1.0-linux-x64.4711', 'NOTES.md', 'SHA256SUMS']
  const others = ['gatehouse', 'gatehouse-2026-11-22T03-00-00Z.tar.gz', 'notes.txt']
  for (const name of [...earlier, ...parts, ...others])
    await Bun.write(join(folder.path, name), name)
  removeEarlier(folder.path)
  expect(readdirSync(folder.path).toSorted()).toEqual(others)
  removeEarlier(join(folder.path, 'none'))
  const sums = checksums(['notes.txt', 'gatehouse'].map((name) => join(folder.path, name)))
  const sum = (name: string) =>
    `${new Bun.CryptoHasher('sha256').update(name).digest('hex')}  ${name}\n`
  expect(sums).toBe(sum('gatehouse') + sum('notes.txt'))
})

// biome-ignore lint/suspicious/noExplicitAny: what has another shape fails the tests
const workflow = async (name: string): Promise<any> =>
  Bun.YAML.parse(await read(`.github/workflows/${name}.yml`))
const [ci, release] = await Promise.all([workflow('ci'), workflow('release')])

test('The workflows run .ci/run with the right to read, and publish a release last, each right to write in one job', () => {
  expect(Object.keys(ci.on)).toEqual(['push', 'pull_request'])
  expect(ci.permissions).toEqual({ contents: 'read' })
  expect(ci.jobs.test.steps.at(-1).run).toBe('.ci/run')
  expect([release.on, release.permissions]).toEqual([{ push: { tags: ['v*'] } }, {}])
  expect(release.jobs).toMatchObject({
    ...{ build: {}, try: { needs: 'build' } },
    ...{ image: { needs: 'try' }, publish: { needs: 'image' } },
  })
  const writersOf = (right: string) =>
    Object.keys(release.jobs).filter((name) => release.jobs[name].permissions?.[right] === 'write')
  expect(['contents', 'packages'].map(writersOf)).toEqual([['publish'], ['image']])
  const tried = release.jobs.try.strategy.matrix.include
  expect(tried).toMatchObject(TARGETS.map(({ name }) => ({ target: name })))
})

test('An image is pushed after it ran read-only as its own user', () => {
  const steps: { run?: string; with?: Record<string, unknown> }[] = release.jobs.image.steps
  const loads = steps.findIndex((step) => step.with?.load === true)
  const runs = steps.findIndex(({ run }) => run?.includes('docker run'))
  const pushes = steps.findIndex((step) => step.with?.push === true)
  expect([-1, loads, runs, pushes]).toEqual([-1, loads, runs, pushes].toSorted((a, b) => a - b))
  const { run = '' } = steps[runs] ?? {}
  expect(run).toContain('--read-only --user 65532 --tmpfs /tmp')
  expect(run).toContain(steps[loads]?.with?.tags as string)
  expect(run).toMatch(/timeout \d+ .*gatehouse healthcheck/)
})

test('The workflows name each action by a commit with its version, and call scripts that exist', async () => {
  const names = readdirSync(join(ROOT, '.github/workflows'))
  const texts = await Promise.all(names.map((name) => read(`.github/workflows/${name}`)))
  const text = texts.join('\n')
  const used = text.match(/\buses:.*/g) ?? []
  const pinned = /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
  expect(used.length).toBeGreaterThan(10)
  expect(used.filter((line) => !pinned.test(line))).toEqual([])
  for (const [, script = ''] of text.matchAll(/bun run (\w+)/g))
    expect(Object.keys(manifest.scripts)).toContain(script)
  for (const [file] of text.matchAll(/\b(?:scripts|\.ci)\/[\w/.]+/g))
    expect(await Bun.file(join(ROOT, file)).exists()).toBe(true)
})

test('CI and the image use the pinned Bun; the image is built from images with a digest, and has the license and its companions', async () => {
  expect(await read('.ci/run')).toContain(`bun@${PINNED} `)
  const dockerfile = await read('Dockerfile')
  expect(dockerfile).toContain('RUN node_modules/.bin/bun scripts/build.ts')
  const images = dockerfile.match(/^(FROM|ARG INSTALLER=).*/gm) ?? []
  expect(images).toHaveLength(4)
  for (const image of images)
    expect(image).toMatch(/:[\w.-]+@sha256:[0-9a-f]{64}$|\$\{INSTALLER\} AS/)
  const copied = /^COPY .*?((?:\/\$\{TARGETARCH\}\/\S+ ){2,})/m.exec(dockerfile)?.[1] ?? ''
  const files = copied
    .trim()
    .split(' ')
    .map((path) => basename(path))
  expect(files).toEqual([...['LICENSE', 'THIRD-PARTY-NOTICES', 'gatehouse.cdx.json']])
})
