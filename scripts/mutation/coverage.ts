import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** What one test file runs: its CPU time in seconds and the lines it executes, by source file. */
export interface TestFile {
  path: string
  /** Of its text and everything it may run, to measure it again when they change. */
  hash: string
  seconds: number
  lines: Record<string, number[]>
}

/**
 * Every test file of a checkout, run alone with coverage, `workers` at a time. Results are kept in
 * `cache`.
 */
export async function coverageOf(
  root: string,
  workers: number,
  cache: string,
): Promise<TestFile[]> {
  const known = new Map((await kept(cache)).map((file) => [file.path + file.hash, file]))
  const paths = [...new Bun.Glob('tests/**/*.test.{ts,tsx}').scanSync(root)].sort()
  const sources = sourcesOf(root)
  const files: TestFile[] = []
  let next = 0
  async function work() {
    for (let path = paths[next++]; path; path = paths[next++]) {
      const hash = hashOf(join(root, path), sources).toString(36)
      files.push(known.get(path + hash) ?? (await covered(root, path, hash)))
      if (files.length % 50 === 0) console.log(`coverage: ${files.length} of ${paths.length} files`)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  await Bun.write(cache, JSON.stringify(files))
  return files
}

/** A hash of the application and of what tests share. */
function sourcesOf(root: string): bigint {
  const paths = [...new Bun.Glob('{src,views,tests/support}/**').scanSync(root)].sort()
  return paths.reduce((seed, path) => hashOf(join(root, path), seed), 0n)
}

const hashOf = (path: string, seed: bigint) => Bun.hash.wyhash(readFileSync(path), seed)

const kept = async (cache: string): Promise<TestFile[]> =>
  (await Bun.file(cache).exists()) ? Bun.file(cache).json() : []

async function covered(root: string, path: string, hash: string): Promise<TestFile> {
  const directory = mkdtempSync(join(tmpdir(), 'coverage-'))
  const coverage = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${directory}`]
  const child = Bun.spawn(['bun', 'test', '--timeout=60000', ...coverage, `./${path}`], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await child.exited
  const seconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6
  const report = await Bun.file(join(directory, 'lcov.info'))
    .text()
    .catch(() => '')
  rmSync(directory, { recursive: true })
  return { path, hash, seconds, lines: executedLines(report, root) }
}

function executedLines(lcov: string, root: string): Record<string, number[]> {
  const lines: Record<string, number[]> = {}
  for (const section of lcov.split('end_of_record')) {
    const file = /^SF:(.+)$/m.exec(section)?.[1]
    if (!file) continue
    const path = file.startsWith('/') ? relative(root, file) : file
    if (!/^(src|views)\//.test(path)) continue
    const executed = section.matchAll(/^DA:(\d+),([1-9]\d*)$/gm)
    lines[path] = [...executed].map(([, line]) => Number(line))
  }
  return lines
}
