import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../support/binary.ts'
import { createNames, readConsole } from '../../support/console.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type HttpBrowser, newHttpBrowser, type Seen } from '../../support/http-browser.ts'
import { openPage, plain } from '../../support/page.ts'
import { freePort } from '../../support/port.ts'
import { openShell } from '../../support/shell.ts'
import { collect, startShown } from '../../support/shown.ts'
import { newAccount, startPlainProviders } from '../../support/social/index.ts'
import { PROGRAM, ROOT } from '../../support/source.ts'

/** The quick start of docs/sign-in.md is typed as it stands there, in terminals of its own. */

const page = await openPage('sign-in.md')

const CAN_TYPE = ['bash', 'curl', 'jq'].every((name) => Bun.which(name) !== null)
const PASSWORD = 'correct horse battery staple'
const RETURN_TO = 'http://127.0.0.1:3000/back'
const CHEAP = ['--gate-password-memory', '8MB', '--gate-password-iterations', '1']

let shop: Awaited<ReturnType<typeof openShop>>

beforeAll(async () => {
  if (CAN_TYPE) shop = await openShop()
}, 60_000)

afterAll(() => shop?.[Symbol.asyncDispose]())

/** What the first two terminals of the page do, and GitHub as somebody on this machine. */
async function openShop() {
  await using ends = new AsyncDisposableStack()
  const folder = ends.use(temporaryFolder())
  const github = ends.use(startPlainProviders())
  const smtpPort = freePort()
  const here = (text: string) =>
    text.replaceAll('1025', `${smtpPort}`).replaceAll('npx -y bun@1.4.5', process.execPath)
  const { clientId, clientSecret, baseUrl } = github.providerConfig('github')

  /** Runs what a terminal of the page runs; ends with the shop. */
  function open(block: string, env: Record<string, string | undefined> = {}) {
    const child = Bun.spawn(['bash', '-c', here(block)], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    ends.defer(async () => {
      child.kill()
      await child.exited
    })
    return { child, out: collect(child.stdout), err: collect(child.stderr) }
  }

  const mails = open(`exec ${page.block('sh', 'Bun.listen')}`)
  const data = ['--data-dir', join(folder.path, 'data')]
  const own = [...data, '--server-port', '0', ...CHEAP].join(' ')
  const serve = page.block('sh', 'gatehouse serve')
  const server = open(`gatehouse() { exec ${PROGRAM.join(' ')} "$@" ${own}; }\n${serve}`, {
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: clientId,
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: clientSecret,
    GATEHOUSE_GATE_PROVIDERS_GITHUB_BASE_URL: baseUrl,
  })
  const listening = /"message":"listening","url":"([^"]+)"/
  await until(
    () => listening.test(server.out.text) || server.child.exitCode !== null,
    () => server.out.text + server.err.text,
  )
  const url = listening.exec(server.out.text)?.[1] as string
  github.allowRedirect(`${url}/auth/self-service/methods/oidc/callback/github`)

  async function gatehouse(...args: string[]) {
    const child = Bun.spawn([...PROGRAM, ...args, ...data, '--json'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH },
      stdout: 'pipe',
    })
    return await new Response(child.stdout).json()
  }

  const { id } = await gatehouse('tenant', 'create', '--name', 'Acme')
  const newKey = async (...scopes: string[]): Promise<string> => {
    const asked = scopes.flatMap((scope) => ['--scope', scope])
    const made = ['key', 'create', '--engine', 'gate', '--tenant', id]
    return (await gatehouse(...made, ...asked)).key
  }
  const running = ends.move()
  return {
    url,
    folder: folder.path,
    github,
    mails: mails.out,
    newKey,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
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
  'the commands of docs/sign-in.md print what it says',
  async () => {
    const names = createNames()
    const key = await shop.newKey('flows', 'sessions:write')
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
    const digits = (text: string) => text.replace(/\d{6}/, '……').trim()
    expect(digits(shop.mails.text)).toBe(digits(inMail))
  },
  60_000,
)

test.skipIf(!CAN_TYPE || Bun.which('sqlite3') === null)(
  'the query of docs/sign-in.md shows what became of mails',
  async () => {
    await using shell = openShell({ cwd: shop.folder, env: {} })
    const query = page
      .block('sh', 'FROM mails')
      .replace('sudo -u gatehouse ', '')
      .replaceAll('/var/lib/gatehouse', './data')
    const isSent = async () => /ada@example\.com.*\bsent\b/.test(await shell.run(query))
    await until(isSent)
  },
  60_000,
)

describe.skipIf(!CAN_TYPE)('with a provider switched on', () => {
  beforeAll(async () => {
    const providers = [{ provider: 'github', enabled: true }]
    const answer = await fetch(`${shop.url}/v1/gate/settings/oidc-providers`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${await shop.newKey()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ providers }),
    })
    expect(answer.status).toBe(200)
  })

  for (const { words, signInAt } of [
    { words: 'hosted_url', signInAt: '/sign-in' },
    { words: 'Map.groupBy', signInAt: '/login' },
  ])
    test(`the app of docs/sign-in.md with ${signInAt} lets people in, with or without an address`, async () => {
      const { url, github } = shop
      const env = { GATEHOUSE: url, KEY: await shop.newKey('flows', 'sessions:write') }
      await using app = await startShown(page, { language: 'ts', words, env })

      /** By the button and by what GitHub asks; where that leads. */
      async function come(browser: HttpBrowser): Promise<Seen> {
        const form = await browser.visit(app.url + signInAt)
        const asked = await browser.press(form, 'provider=github')
        expect(asked.url).toStartWith(github.url)
        return browser.press(asked, 'decision=allow')
      }

      const account = newAccount()
      github.signInAs(account)
      const home = await come(newHttpBrowser())
      expect([home.url, home.status]).toEqual([`${app.url}/`, 200])
      expect(home.text).toContain(`Hello ${account.email}`)
      expect(home.text).not.toMatch(/verify your address/i)

      const mallory = newHttpBrowser({ stopsBefore: `${app.url}/back` })
      github.signInAs(newAccount())
      const trap = await come(mallory)
      expect(trap.url).toContain('code=')
      const ada = newHttpBrowser()
      await ada.visit(app.url + signInAt)
      expect((await ada.visit(trap.url)).status).toBe(403)
      expect((await ada.visit(app.url)).text).not.toContain('Hello')

      github.signInAs(newAccount({ email: null }))
      const linus = newHttpBrowser()
      const form = await come(linus)
      expect(form.url).toStartWith(url)
      const email = `linus-of-${app.url.split(':').at(-1)}@example.com`
      const known = await linus.press(form, 'provider=github', { 'traits.email': email })
      expect(known.text).toContain(`Hello ${email}`)
      expect(known.text).toMatch(/verify your address/i)
    }, 60_000)

  test('the app of docs/sign-in.md with forms of its own connects accounts, and disconnects them', async () => {
    const env = { GATEHOUSE: shop.url, KEY: await shop.newKey('flows', 'sessions:write') }
    await using app = await startShown(page, { language: 'ts', words: 'Map.groupBy', env })
    shop.github.signInAs(newAccount())
    const ada = newHttpBrowser()
    const form = await ada.visit(`${app.url}/registration`)
    const fields = { 'traits.email': 'countess@example.com', password: PASSWORD }
    await ada.press(form, 'method=password', fields)
    const settings = () => ada.visit(`${app.url}/settings`)

    const asked = await ada.press(await settings(), 'link=github')
    const home = await ada.press(asked, 'decision=allow')
    expect([home.url, home.status]).toEqual([`${app.url}/`, 200])
    const gone = await ada.press(await settings(), 'unlink=github')
    expect([gone.url, gone.status]).toEqual([`${app.url}/`, 200])
    const again = await settings()
    expect(again.forms.flatMap(({ buttons }) => buttons.map(({ name }) => name))).toContain('link')
  }, 60_000)

  test('the way there is answered as docs/sign-in.md says', async () => {
    const headers = {
      authorization: `Bearer ${await shop.newKey('flows')}`,
      'content-type': 'application/json',
    }
    const start = await fetch(`${shop.url}/v1/gate/auth/login`, { headers })
    const { ui } = await start.json()
    const shown = ui.nodes.map(
      ({ attributes: { name, value } }: { attributes: { name: string; value?: string } }) =>
        `${name}=${value}`,
    )
    expect(shown).toContain('provider=github')
    const csrf_token = ui.nodes[0].attributes.value
    const answer = await fetch(ui.action, {
      method: 'POST',
      headers,
      body: JSON.stringify({ csrf_token, method: 'oidc', provider: 'github' }),
    })
    expect(answer.status).toBe(422)
    const { id, redirect_browser_to: there } = await answer.json()
    const [row = []] = page.table('`id`', 'Status', 'When').filter(([each]) => plain(each) === id)
    expect([plain(row[0]), row[1]]).toEqual(['browser_location_change_required', '422'])
    expect(there).toStartWith(shop.github.url)
  })
})
