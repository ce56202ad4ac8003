import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { firstSteps } from '../../src/cli/first-steps.ts'
import { databaseFile } from '../../src/db/open.ts'
import { testIo } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'
import { outcomeOf, SOURCE } from '../support/source.ts'

const shown = ({ isWatched, uid }: { isWatched: boolean; uid: number | undefined }) =>
  firstSteps({ io: testIo('/', { isWatched }), config: testConfig(), port: 8420, uid })

test('in the log of a service the first steps say as whom they are taken', () => {
  expect(shown({ isWatched: false, uid: 998 })).toContain(
    "\n(as uid 998, the account of this server: with sudo -u '#998', or in its container)\n\n  gatehouse",
  )
})

test('at a terminal, as root, or where there are no accounts, there is nothing to say of it', () => {
  for (const of of [
    { isWatched: true, uid: 998 },
    { isWatched: false, uid: 0 },
    { isWatched: false, uid: undefined },
  ])
    expect(shown(of)).not.toContain('(as')
})

describe('what is to be typed next works as it is shown', () => {
  test.each(['data', 'elsewhere', "o'ther place"])('with the data in %p', async (name) => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, name)
    const io = { ...testIo(folder.path), program: '"$@"' }
    const text = firstSteps({ io, config: testConfig({ 'data-dir': dataDir }), port: 8420 })
    const typed = async (verb: string, id = '') => {
      const line = text.split('\n').find((line) => line.includes(verb)) ?? ''
      const words = line.replace('<the id it shows>', id)
      const script = ['bash', '-c', `${words} --json`, 'bash', ...SOURCE]
      const child = Bun.spawn(script, { cwd: folder.path, stdout: 'pipe', stderr: 'pipe' })
      return outcomeOf(child)
    }

    const tenant = await typed('tenant create')
    expect(tenant).toMatchObject({ code: 0, err: '' })
    expect(await typed('key create', tenant.json().id)).toMatchObject({ code: 0, err: '' })
    expect(existsSync(databaseFile(dataDir))).toBe(true)
  })
})
