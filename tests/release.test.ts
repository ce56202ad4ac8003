import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename, join, normalize } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { extract } from 'tar-stream'
import manifest from '../package.json' with { type: 'json' }
import { writeArchive } from '../scripts/release/archive.ts'
import { checksums } from '../scripts/release/checksums.ts'
import { removeEarlier } from '../scripts/release/earlier.ts'
import { formatOf } from '../scripts/release/inspect.ts'
import { runtimeProject } from '../scripts/release/runtimes.ts'
import { changelogSection, tagErrors } from '../scripts/release/source.ts'
import { chooseTargets, TARGETS } from '../scripts/release/targets.ts'
import { temporaryFolder } from './support/folder.ts'

const ROOT = join(import.meta.dir, '..')
const read = (path: string) => Bun.file(join(ROOT, path)).text()
const PINNED = manifest.devDependencies.bun

describe('the targets of a release', () => {
  test('are all of them unless some are named', () => {
    expect(chooseTargets([])).toEqual(TARGETS)
    expect(chooseTargets(['linux-arm64']).map(({ name }) => name)).toEqual(['linux-arm64'])
  })

  test('are refused by a name that is none, and the message has those that are', () => {
    expect(() => chooseTargets(['linux-x64', 'plan9'])).toThrow(
      'no target plan9; there is linux-x64, linux-arm64, darwin-arm64',
    )
  })

  test('have runtimes of the pinned version, with the hash that bun.lock has', async () => {
    const { lock } = runtimeProject(TARGETS.map(({ runtime }) => runtime))
    const packages = Object.entries<unknown[]>(JSON.parse(lock).packages)
    expect(packages.map(([name]) => name)).toEqual(TARGETS.map(({ runtime }) => runtime))
    const repositoryLock = await read('bun.lock')
    for (const [name, [id, , , integrity]] of packages) {
      expect(id).toBe(`${name}@${PINNED}`)
      expect(integrity).toStartWith('sha512-')
      expect(repositoryLock).toContain(`"${integrity}"`)
    }
  })

  test('cannot have a runtime that bun.lock does not know', () => {
    expect(() => runtimeProject(['@oven/bun-plan9'])).toThrow('no sha512 of @oven/bun-plan9@')
  })
})

describe('a header', () => {
  const header = (bytes: number[], at: number, field: number[]) => {
    const header = Buffer.alloc(32)
    header.set(bytes)
    header.set(field, at)
    return header
  }
  const elf = (machine: number) => header([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 18, [machine, 0])
  const macho = (cpu: number) => header([0xcf, 0xfa, 0xed, 0xfe], 4, [cpu, 0, 0, 1])

  test('says for which machine an executable is', () => {
    const formats = [elf(0x3e), elf(0xb7), macho(0x0c)].map(formatOf)
    expect(formats).toEqual(TARGETS.map(({ format }) => format))
  })

  test('of another machine or of no executable is not taken for one of them', () => {
    const others = [elf(0xf3), macho(0x07), Buffer.from('#!/bin/sh'.padEnd(32))].map(formatOf)
    expect(others).toEqual(['ELF', 'Mach-O x86-64', 'no executable'])
  })
})

describe('a tag', () => {
  const changelog = [
    '# Changelog\n\n## [1.10.0] - unreleased\n\n### Added\n\n- Later.\n',
    '## [1.1.0] - 2026-01-02\n\n### Added\n\n- Something.\n',
    '## [1.0.0] - 2026-01-01\n',
  ].join('\n')

  test('is right when it names the version and the changelog has a dated section', () => {
    expect(tagErrors('v1.1.0', '1.1.0', changelog)).toEqual([])
    expect(changelogSection(changelog, '1.1.0')).toEqual({
      date: '2026-01-02',
      text: '### Added\n\n- Something.',
    })
  })

  test('is wrong with another name, without a section, without a text and without a date', () => {
    expect(tagErrors('1.1.0', '1.1.0', changelog)).toEqual([
      'the tag 1.1.0 is not v1.1.0, as package.json has it',
    ])
    expect(tagErrors('v1', '1.1.1', changelog)).toEqual([
      'the tag v1 is not v1.1.1, as package.json has it',
      'CHANGELOG.md has no section [1.1.1] with a text',
    ])
    expect(tagErrors('v1.0.0', '1.0.0', changelog)).toEqual([
      'CHANGELOG.md has no section [1.0.0] with a text',
    ])
    expect(tagErrors('v1.10.0', '1.10.0', changelog)).toEqual([
      'CHANGELOG.md has no date for [1.10.0]: ## [1.10.0] - YYYY-MM-DD',
    ])
  })

  test('finds the section of the version at hand', async () => {
    expect(changelogSection(await read('CHANGELOG.md'), manifest.version)?.text).toContain('- ')
  })
})

test('checksums are in the order of the names and in the form that sha256sum reads', async () => {
  using folder = temporaryFolder()
  const files = ['b', 'a'].map((name) => join(folder.path, name))
  for (const file of files) await Bun.write(file, file)
  const line = (file = '') =>
    `${createHash('sha256').update(file).digest('hex')}  ${file.slice(-1)}\n`
  expect(checksums(files)).toBe(line(files[1]) + line(files[0]))
})

describe('an archive', () => {
  /** What it holds, by the path within its folder, and its bytes. */
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

  test('has the executable, notices, a bill of materials, the unit, and no folder but its own', async () => {
    using folder = temporaryFolder()
    const { files } = await archived(folder.path)
    expect(files.get('gatehouse')).toEqual({ mode: 0o755, text: 'not really' })
    expect(files.get('THIRD-PARTY-NOTICES')).toEqual({ mode: 0o644, text: 'notices' })
    expect(files.get('gatehouse.cdx.json')).toEqual({ mode: 0o644, text: '{}' })
    expect(files.get('docs/gatehouse.service')?.text).toBe(await read('docs/gatehouse.service'))
    const notOfRepository = [...files.keys()].filter((name) => /^[./]|\.\.|\\/.test(name))
    expect(notOfRepository).toEqual([])
  })

  test('has whatever its README and its documentation link to', async () => {
    using folder = temporaryFolder()
    const { files } = await archived(folder.path)
    const lost: string[] = []
    const pages = [...files].filter(([name]) => /^(README|docs\/.+)\.md$/.test(name))
    for (const [name, { text }] of pages)
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)) {
        const path = normalize(join(name, '..', target))
        if (!files.has(path)) lost.push(`${name}: ${target}`)
      }
    expect(pages.length).toBeGreaterThan(20)
    expect(lost).toEqual([])
  })

  test('of the same commit has the same bytes', async () => {
    using one = temporaryFolder()
    using other = temporaryFolder()
    expect((await archived(one.path)).bytes).toEqual((await archived(other.path)).bytes)
  })
})

describe('what an earlier release left in the folder', () => {
  const inFolder = async (...names: string[]) => {
    const folder = temporaryFolder()
    for (const name of names) await Bun.write(join(folder.path, name), name)
    return folder
  }

  test('is gone before the next is made: what is published is what the checksums name', async () => {
    using folder = await inFolder(
      'gatehouse-0.0.9-linux-x64',
      'gatehouse-0.0.9-linux-x64.tar.gz',
      'gatehouse-0.1.0-linux-x64.4711',
      'NOTES.md',
      'SHA256SUMS',
    )
    removeEarlier(folder.path)
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('is told from what is no release, and a folder that is not there has nothing', async () => {
    const others = ['gatehouse-2026-11-22T03-00-00Z.tar.gz', 'gatehouse', 'notes.txt']
    using folder = await inFolder(...others)
    removeEarlier(folder.path)
    expect(readdirSync(folder.path).toSorted()).toEqual(others.toSorted())
    expect(() => removeEarlier(join(folder.path, 'none'))).not.toThrow()
  })
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

describe('the workflows', () => {
  test('ci runs what .ci/run runs, on pushes and pull requests, and may only read', async () => {
    const { on, permissions, jobs } = await workflow('ci')
    expect(Object.keys(on)).toEqual(['push', 'pull_request'])
    expect(permissions).toEqual({ contents: 'read' })
    expect(jobs.test?.steps.at(-1)?.run).toBe('.ci/run')
  })

  test('a release begins with a tag and publishes last, after each target was tried', async () => {
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

  test('an image is pushed after it was ready, read-only and as its own user', async () => {
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

  test('only the job that publishes may write contents, only the image job packages', async () => {
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

  test.each(['ci', 'release'])('%s calls scripts that exist', async (name) => {
    const { jobs } = await workflow(name)
    const steps = Object.values(jobs).flatMap((job) => job.steps)
    const runs = steps.map(({ run = '' }) => run).join('\n')
    for (const [, script = ''] of runs.matchAll(/bun run (\w+)/g))
      expect(Object.keys(manifest.scripts)).toContain(script)
    for (const [file] of runs.matchAll(/(?:scripts|\.ci)\/[\w/.]+/g))
      expect(await Bun.file(join(ROOT, file)).exists()).toBe(true)
  })
})

test('CI runs the pinned Bun, and the image is compiled with the one that bun.lock has', async () => {
  expect(await read('.ci/run')).toContain(`bun@${PINNED} `)
  expect(await read('Dockerfile')).toContain('RUN node_modules/.bin/bun scripts/build.ts')
})

test('the image is built from images that are named by their digest', async () => {
  const dockerfile = await read('Dockerfile')
  const defaults = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]),
  )
  const images = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(
    ([, image = '']) => image.replace(/^\$\{(\w+)\}$/, (_, name) => defaults.get(name) ?? name),
  )
  expect(images.length).toBe(3)
  for (const image of images) expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
})

test('the image has the licence, the notices and the bill of materials', async () => {
  const [, copied = ''] =
    /^COPY .*?((?:\/\$\{TARGETARCH\}\/\S+ ){2,})/m.exec(await read('Dockerfile')) ?? []
  const names = copied
    .trim()
    .split(' ')
    .map((path) => basename(path))
  expect(names).toEqual(['LICENSE', 'THIRD-PARTY-NOTICES', 'gatehouse.cdx.json'])
})
