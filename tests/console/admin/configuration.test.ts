import { describe, expect, test } from 'bun:test'
import { loadConfig } from '../../../src/config/index.ts'
import { configurationPage } from '../../../src/console/pages/admin/configuration.ts'
import type { Answer } from '../../support/app.ts'
import { alone, bootAdmin, isEscaped, textOf } from './admin-fixture.ts'

const PATH = '/console/admin/configuration'

/** Of an installation that was started with a file, variables and options. */
async function withOrigins(path: string): Promise<Answer> {
  const fixture = await bootAdmin()
  await using _ = fixture.app
  const loaded = loadConfig({
    flags: { 'mail-from': 'gate@example.com' },
    env: {
      GATEHOUSE_LOG_LEVEL: 'debug',
      GATEHOUSE_MAIL_SMTP_URL: 'smtps://mailer:topsecret@smtp.example.com',
    },
    cwd: '/srv',
    readFile: (name) => {
      if (name === '/srv/gatehouse.toml') return 'data_dir = "/srv/<script>alert(1)</script>"\n'
      throw Object.assign(new Error(`no file ${name}`), { code: 'ENOENT' })
    },
  })
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('; '))
  const { config, origin: origins } = loaded
  return alone(fixture, (common) => configurationPage({ ...common, config, origins }))(path)
}

describe('the page on the configuration', () => {
  test('has every setting with where it comes from', async () => {
    const page = await withOrigins(PATH)
    const text = textOf(page)
    expect(text).toContain('settings are customized.')
    expect(text).toMatch(/\[log\].* level Value "debug" Source Environment GATEHOUSE_LOG_LEVEL/)
    expect(text).toMatch(/data_dir Value "\/srv\/<script>alert\(1\)<\/script>" Source File \S+:1/)
    expect(text).toMatch(/\[mail\].* from Value "gate@example\.com" Source Flag --mail-from/)
    expect(text).toMatch(/\[server\].* host Value "\S+" Source Default/)
    expect(isEscaped(page)).toBe(true)
  })

  test('never has a secret', async () => {
    const page = await withOrigins(PATH)
    expect(textOf(page)).toMatch(
      /\[mail\].* smtp_url Value "\[redacted\]" Source Environment GATEHOUSE_MAIL_SMTP_URL/,
    )
    expect(page.body).not.toContain('topsecret')
  })

  test('is narrowed to what was set, and to a name', async () => {
    const set = textOf(await withOrigins(`${PATH}?set=true`))
    expect(set).toContain('[mail]')
    expect(set).not.toContain('[server]')
    const named = textOf(await withOrigins(`${PATH}?q=LOG.`))
    expect(named).toContain('[log]')
    expect(named).not.toContain('[mail]')
    expect(textOf(await withOrigins(`${PATH}?q=nothing-so`))).toContain('No matching settings')
  })

  test('claims no origin where it was told none', async () => {
    const fixture = await bootAdmin({ flags: { 'log-level': 'debug' } })
    await using _ = fixture.app
    const page = await fixture.open(PATH)
    expect(textOf(page)).toMatch(/\[log\].* level Value "debug"/)
    expect(textOf(page)).not.toContain(' From ')
    expect(textOf(page)).not.toContain('authorize_url')
    expect(textOf(await fixture.open(`${PATH}?set=true`))).toContain('[server]')
  })
})
