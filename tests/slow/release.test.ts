import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename, join, normalize } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
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

test('A release is for all targets, or for named ones', () => {
  expect(chooseTargets([])).toEqual(TARGETS)
  expect(chooseTargets(['linux-arm64']).map(({ name }) => name)).toEqual(['linux-arm64'])
  const names = 'linux-x64, linux-arm64, darwin-arm64'
  expect(() => chooseTargets(['linux-x64', 'x'])).toThrow(`no target x; there is ${names}`)
})

test('Runtimes have the pinned version and the hash of bun.lock', async () => {
  const { lock } = runtimeProject(TARGETS.map(({ runtime }) => runtime))
  const packages = Object.entries<unknown[]>(JSON.parse(lock).packages)
  expect(packages.map(([name]) => name)).toEqual(TARGETS.map(({ runtime }) => runtime))
  const repositoryLock = await read('bun.lock')
  for (const [name, [id, , , integrity]] of packages) {
    expect(id).toBe(`${name}@${PINNED}`)
    expect(integrity).toStartWith('sha512-')
    expect(repositoryLock).toContain(`"${integrity}"`)
  }
  expect(() => runtimeProject(['@oven/bun-x'])).toThrow('no sha512 of @oven/bun-x@')
})

test('The header of an executable tells its machine', () => {
  const header = (bytes: number[], at: number, field: number[]) => {
    const header = Buffer.alloc(32)
    header.set(bytes)
    header.set(field, at)
    return header
  }
  const elf = (machine: number) => header([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 18, [machine, 0])
  const macho = (cpu: number) => header([0xcf, 0xfa, 0xed, 0xfe], 4, [cpu, 0, 0, 1])
  const formats = [elf(0x3e), elf(0xb7), macho(0x0c)].map(formatOf)
  expect(formats).toEqual(TARGETS.map(({ format }) => format))
  const others = [elf(0xf3), macho(0x07), Buffer.from('#!/bin/sh'.padEnd(32))].map(formatOf)
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

test('Checksums are sorted by name, in the form of sha256sum', async () => {
  using folder = temporaryFolder()
  const files = ['b', 'a'].map((name) => join(folder.path, name))
  for (const file of files) await Bun.write(file, file)
  const line = (file = '') =>
    `${createHash('sha256').update(file).digest('hex')}  ${file.slice(-1)}\n`
  expect(checksums(files)).toBe(line(files[1]) + line(files[0]))
})

describe('An archive', () => {
  /** Its files by their path within its folder, and its bytes. */
  async function archived(folder: string) {
    const executable = join(folder, 'gatehouse-1.2.3-plan9')
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

  test('has everything in one folder, and all files that its documentation links to', async () => {
    using folder = temporaryFolder()
    const { files } = await archived(folder.path)
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
  })

  test('of the same commit has the same bytes', async () => {
    using one = temporaryFolder()
    using other = temporaryFolder()
    expect((await archived(one.path)).bytes).toEqual((await archived(other.path)).bytes)
  })
})

test('Files of an earlier release are removed, and no others', async () => {
  using folder = temporaryFolder()
  const earlier = ['gatehouse-0.0.9-linux-x64', 'gatehouse-0.0.9-linux-x64.tar.gz']
  const parts = ['gatehouse-0.1.0-linux-x64.4711', 'NOTES.md', 'SHA256SUMS']
  const others = ['gatehouse', 'gatehouse-2026-11-22T03-00-00Z.tar.gz', 'notes.txt']
  for (const name of [...earlier, ...parts, ...others])
    await Bun.write(join(folder.path, name), name)
  removeEarlier(folder.path)
  expect(readdirSync(folder.path).toSorted()).toEqual(others)
  removeEarlier(join(folder.path, 'none'))
})

const Step = Type.Object({
  uses: Type.Optional(Type.String()),
  run: Type.Optional(Type.String()),
  with: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})
const Job = Type.Object({
  needs: Type.Optional(Type.String()),
  permissions: Type.Optional(Type.Record(Type.String(), Type.String())),
  strategy: Type.Optional(
    Type.Object({
      matrix: Type.Object({ include: Type.Array(Type.Object({ target: Type.String() })) }),
    }),
  ),
  steps: Type.Array(Step),
})
const Workflow = Type.Object({
  on: Type.Record(Type.String(), Type.Unknown()),
  permissions: Type.Record(Type.String(), Type.String()),
  jobs: Type.Record(Type.String(), Job),
})

async function workflow(name: string): Promise<Static<typeof Workflow>> {
  const text = await read(`.github/workflows/${name}.yml`)
  return Value.Parse(Workflow, Bun.YAML.parse(text))
}

describe('The workflows', () => {
  test('run .ci/run on pushes and pull requests, with the right to read', async () => {
    const { on, permissions, jobs } = await workflow('ci')
    expect(Object.keys(on)).toEqual(['push', 'pull_request'])
    expect(permissions).toEqual({ contents: 'read' })
    expect(jobs.test?.steps.at(-1)?.run).toBe('.ci/run')
  })

  test('publish a release last, after each target was tried', async () => {
    const { on, jobs } = await workflow('release')
    expect(on).toEqual({ push: { tags: ['v*'] } })
    const order = Object.entries(jobs).map(([name, { needs }]) => [name, needs])
    expect(order).toEqual([
      ['build', undefined],
      ['try', 'build'],
      ['image', 'try'],
      ['publish', 'image'],
    ])
    const tried = jobs.try?.strategy?.matrix.include.map(({ target }) => target)
    expect(tried).toEqual(TARGETS.map(({ name }) => name))
  })

  test('push an image after it ran read-only as its own user', async () => {
    const { jobs } = await workflow('release')
    const steps = jobs.image?.steps ?? []
    const loads = steps.findIndex((step) => step.with?.load === true)
    const runs = steps.findIndex(({ run }) => run?.includes('docker run'))
    const pushes = steps.findIndex((step) => step.with?.push === true)
    expect([loads, runs, pushes]).toEqual([loads, runs, pushes].toSorted((a, b) => a - b))
    expect(loads).toBeGreaterThan(0)
    const { run = '' } = steps[runs] ?? {}
    expect(run).toContain('--read-only --user 65532 --tmpfs /tmp')
    expect(run).toContain(steps[loads]?.with?.tags as string)
    expect(run).toMatch(/timeout \d+ .*gatehouse healthcheck/)
  })

  test('give the right to write contents and packages to one job each', async () => {
    const { permissions, jobs } = await workflow('release')
    const writers = (what: string) =>
      Object.keys(jobs).filter((name) => jobs[name]?.permissions?.[what] === 'write')
    expect(permissions).toEqual({})
    expect(writers('contents')).toEqual(['publish'])
    expect(writers('packages')).toEqual(['image'])
  })

  test('name each action by a commit, with its version beside it', async () => {
    const names = readdirSync(join(ROOT, '.github/workflows'))
    const texts = await Promise.all(names.map((name) => read(`.github/workflows/${name}`)))
    const used = texts.join('\n').match(/\buses:.*/g) ?? []
    const pinned = /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
    expect(used.length).toBeGreaterThan(10)
    expect(used.filter((line) => !pinned.test(line))).toEqual([])
  })

  test.each(['ci', 'release'])('call scripts that exist: %s', async (name) => {
    const { jobs } = await workflow(name)
    const steps = Object.values(jobs).flatMap((job) => job.steps)
    const runs = steps.map(({ run = '' }) => run).join('\n')
    for (const [, script = ''] of runs.matchAll(/bun run (\w+)/g))
      expect(Object.keys(manifest.scripts)).toContain(script)
    for (const [file] of runs.matchAll(/(?:scripts|\.ci)\/[\w/.]+/g))
      expect(await Bun.file(join(ROOT, file)).exists()).toBe(true)
  })
})

test('CI and the image use the Bun that is pinned and locked', async () => {
  expect(await read('.ci/run')).toContain(`bun@${PINNED} `)
  expect(await read('Dockerfile')).toContain('RUN node_modules/.bin/bun scripts/build.ts')
})

test('The image is built from images with a digest, and has the license and its companions', async () => {
  const dockerfile = await read('Dockerfile')
  const defaults = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]),
  )
  const images = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(
    ([, image = '']) => image.replace(/^\$\{(\w+)\}$/, (_, name) => defaults.get(name) ?? name),
  )
  expect(images.length).toBe(3)
  for (const image of images) expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/)

  const [, copied = ''] = /^COPY .*?((?:\/\$\{TARGETARCH\}\/\S+ ){2,})/m.exec(dockerfile) ?? []
  const names = copied
    .trim()
    .split(' ')
    .map((path) => basename(path))
  expect(names).toEqual(['LICENSE', 'THIRD-PARTY-NOTICES', 'gatehouse.cdx.json'])
})
