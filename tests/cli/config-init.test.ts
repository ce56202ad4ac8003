import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { run } from '../../src/cli/run.ts'
import { temporaryFolder } from '../support/folder.ts'

async function init(cwd: string, file: string) {
  let err = ''
  const code = await run(['config', 'init', file], {
    out: () => {},
    err: (text) => {
      err += text
    },
    in: async () => '',
    isWatched: false,
    env: {},
    cwd,
    program: 'gatehouse',
  })
  return { code, err }
}

test('a configuration is written once; a second time the command line was wrong', async () => {
  using folder = temporaryFolder()
  expect(await init(folder.path, 'a.toml')).toEqual({ code: 0, err: '' })
  const { code, err } = await init(folder.path, 'a.toml')
  expect(code).toBe(2)
  expect(err).toContain(`${join(folder.path, 'a.toml')}: exists already`)
})

test('a place that cannot be written is told in a sentence', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'none', 'a.toml')
  expect(await init(folder.path, file)).toEqual({
    code: 1,
    err: `${file}: no such file or directory\n`,
  })
})
