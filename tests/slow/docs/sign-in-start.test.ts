import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { urlIn } from '../../../scripts/release/smoke.ts'
import { collect, until } from '../../support/binary.ts'
import { cli } from '../../support/cli.ts'
import { createNames, readConsole } from '../../support/console.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type HttpBrowser, newHttpBrowser, type Seen } from '../../support/http-browser.ts'
import { openPage } from '../../support/page.ts'
import { freePort } from '../../support/port.ts'
import { openShell } from '../../support/shell.ts'
import { startShown } from '../../support/shown.ts'
import { newAccount, startProviders } from '../../support/social/index.ts'
import { PROGRAM, ROOT } from '../../support/source.ts'

/** The quick start of docs/sign-in.md is typed as it stands there, in terminals of its own. */

const page = await openPage('sign-in.md')

const CAN_TYPE = ['bash', 'curl', 'jq'].every((name) => Bun.which(name) !== null)
const PASSWORD = 'correct horse battery staple'
const RETURN_TO = 'http://127.0.0.1:3000/back'
const CHEAP = '--gate-password-memory 8MB --gate-password-iterations 1'

const ends = new AsyncDisposableStack()
afterAll(() => ends.disposeAsync())
let shop: Awaited<ReturnType<typeof openShop>>
beforeAll(async () => {
  if (CAN_TYPE) shop = await openShop()
}, 60_000)

/** What the first two terminals of the page do, and GitHub on this machine. */
async function openShop() {
  const { path: folder } = ends.use(temporaryFolder())
  const github = ends.use(startProviders())
  const smtpPort = freePort()

  /** Runs what a terminal of the page runs; ends with the shop. */
  function open(block: string, env: Record<string, string | undefined> = {}) {
    const here = block
      .replaceAll('1025', `${smtpPort}`)
      .replaceAll('npx -y bun@1.4.5', process.execPath)
    const child = Bun.spawn(['bash', '-c', here], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    ends.defer(async () => {
      child.kill()
      await child.exited
    })
    return { child, out: collect(child.stdout) }
  }

  const mails = open(`exec ${page.block('sh', 'Bun.listen')}`).out
  const data = ['--data-dir', join(folder, 'data')]
  const program = `${PROGRAM.join(' ')} "$@" ${data.join(' ')} --server-port 0 ${CHEAP}`
  const serve = page.block('sh', 'gatehouse serve')
  const { clientId, clientSecret, baseUrl } = github.providerConfig('github')
  const server = open(`gatehouse() { exec ${program}; }\n${serve}`, {
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: clientId,
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: clientSecret,
    GATEHOUSE_GATE_PROVIDERS_GITHUB_BASE_URL: baseUrl,
  })
  const url = () => urlIn(server.out.text) ?? ''
  await until(
    () => url() !== '' || server.child.exitCode !== null,
    () => server.out.text,
  )
  github.allowRedirect(`${url()}/auth/self-service/methods/oidc/callback/github`)

  const run = cli(folder)
  const gatehouse = async (...args: string[]) => (await run(...args, ...data, '--json')).json()
  const { id } = await gatehouse('tenant', 'create', '--name', 'Acme')
  const newKey = async (...options: string[]): Promise<string> =>
    (await gatehouse('key', 'create', '--engine', 'gate', '--tenant', id, ...options)).key
  const key = await newKey('--scope', 'flows', '--scope', 'sessions:write')
  const settingsKey = await newKey()
  const enableGithub = () =>
    fetch(`${url()}/v1/gate/settings/oidc-providers`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${settingsKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ providers: [{ provider: 'github', enabled: true }] }),
    })
  return { key, url: url(), folder, github, mails, enableGithub }
}

/** Signs Ada up on the hosted page, and stops where the browser goes back: its query. */
async function signUp(hostedUrl: string): Promise<URLSearchParams> {
  const ada = newHttpBrowser({ stopsBefore: RETURN_TO })
  const form = await ada.visit(hostedUrl)
  const fields = { 'traits.email': 'ada@example.com', password: PASSWORD }
  const { url } = await ada.press(form, 'method=password', fields)
  return new URL(url).searchParams
}

test.skipIf(!CAN_TYPE)(
  'The commands of docs/sign-in.md print what it says, and its query shows what became of mails',
  async () => {
    const names = createNames()
    const { key } = shop
    await using shell = openShell({
      cwd: shop.folder,
      env: {
        API: `${shop.url}/v1/gate`,
        KEY: key,
        AUTH: `Authorization: Bearer ${key}`,
        JSON: 'Content-Type: application/json',
      },
    })
    const atHome = (text: string) => text.replaceAll('http://127.0.0.1:8420', shop.url)
    let hostedUrl = ''
    let count = 0
    for (const shown of page.blocks('console').flatMap(readConsole)) {
      const code = /^CODE=/.test(shown.command) && (await signUp(hostedUrl)).get('code')
      const command = code ? `CODE=${code}` : names.translate(shown.command)
      const printed = (await shell.run(command)).replaceAll('\n', '')
      hostedUrl = /"hosted_url":"([^"]+)"/.exec(printed)?.[1] ?? hostedUrl
      if (!names.matches({ ...shown, output: atHome(shown.output) }, printed))
        expect([shown.command, printed]).toEqual([shown.command, shown.output])
      count++
    }
    expect(count).toBeGreaterThan(10)

    const inMail = page.block('', 'Subject:')
    await until(() => shop.mails.text.includes('Subject'))
    if (Bun.which('sqlite3') !== null) {
      const query = page
        .block('sh', 'FROM mails')
        .replace('sudo -u gatehouse ', '')
        .replaceAll('/var/lib/gatehouse', './data')
      await until(async () => /ada@example\.com.*\bsent\b/.test(await shell.run(query)))
    }
    const digits = (text: string) => text.replace(/\d{6}/, '……').trim()
    expect(digits(shop.mails.text)).toBe(digits(inMail))
  },
  60_000,
)

test.skipIf(!CAN_TYPE).each([
  ['hosted_url', '/sign-in'],
  ['Map.groupBy', '/login'],
])(
  'The app with %s lets people in, with or without an address, and connects accounts',
  async (words, signInAt) => {
    const { url, github, enableGithub } = shop
    expect((await enableGithub()).status).toBe(200)
    const env = { GATEHOUSE: url, KEY: shop.key }
    await using app = await startShown(page, { language: 'ts', words, env })
    const home = { url: `${app.url}/`, status: 200 }

    /** By the button and by what GitHub asks; where that leads. */
    async function come(browser: HttpBrowser): Promise<Seen> {
      const form = await browser.visit(app.url + signInAt)
      const asked = await browser.press(form, 'provider=github')
      expect(asked.url).toStartWith(github.url)
      return browser.press(asked, 'decision=allow')
    }

    const account = newAccount()
    github.signInAs(account)
    const grace = await come(newHttpBrowser())
    expect(grace).toMatchObject(home)
    expect(grace.text).toContain(`Hello ${account.email}`)
    expect(grace.text).not.toMatch(/verify your address/i)

    const mallory = newHttpBrowser({ stopsBefore: `${app.url}/back` })
    github.signInAs(newAccount())
    const trap = await come(mallory)
    expect(trap.url).toContain('code=')
    const victim = newHttpBrowser()
    await victim.visit(app.url + signInAt)
    expect((await victim.visit(trap.url)).status).toBe(403)
    expect((await victim.visit(app.url)).text).not.toContain('Hello')

    github.signInAs(newAccount({ email: null }))
    const linus = newHttpBrowser()
    const form = await come(linus)
    expect(form.url).toStartWith(url)
    const email = `linus-of-${app.url.split(':').at(-1)}@example.com`
    const known = await linus.press(form, 'provider=github', { 'traits.email': email })
    expect(known.text).toContain(`Hello ${email}`)
    expect(known.text).toMatch(/verify your address/i)
    if (signInAt === '/sign-in') return

    github.signInAs(newAccount())
    const ada = newHttpBrowser()
    const fields = { 'traits.email': 'countess@example.com', password: PASSWORD }
    await ada.press(await ada.visit(`${app.url}/registration`), 'method=password', fields)
    const settings = () => ada.visit(`${app.url}/settings`)
    const asked = await ada.press(await settings(), 'link=github')
    expect(await ada.press(asked, 'decision=allow')).toMatchObject(home)
    expect(await ada.press(await settings(), 'unlink=github')).toMatchObject(home)
    const buttons = (await settings()).forms.flatMap(({ buttons }) => buttons)
    expect(buttons.map(({ name }) => name)).toContain('link')
  },
  60_000,
)
