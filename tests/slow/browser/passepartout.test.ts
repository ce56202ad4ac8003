import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { decodeQR } from 'qr/decode.js'
import { BINARY, command, compileBinary, startServer } from '../../support/binary.ts'
import { startBotApi } from '../../support/bot-api/index.ts'
import {
  findingsOf,
  type Look,
  launchBrowser,
  NARROW_DARK,
  screenshot,
  scrollsSideways,
  turnTo,
  WIDE,
} from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage as openDocs } from '../../support/page.ts'
import { startShown } from '../../support/shown.ts'

/** The app of docs/passepartout.md as it stands there, with the executable. */

const TENANT = 'Paper shop'
const LONG = 120_000

const fixture = await startFixture()
const browser = await launchBrowser()
const context = await browser.newContext()
context.setDefaultTimeout(20_000)
// The browser ends with its last page.
await context.newPage()

afterAll(async () => {
  await browser.close()
  await fixture[Symbol.asyncDispose]()
})

/** Gatehouse with a tenant, its bot at a Telegram on this machine, and the app with each of its keys. */
async function startFixture() {
  await compileBinary()
  await using ends = new AsyncDisposableStack()
  const telegram = ends.use(startBotApi())
  const bot = telegram.bot({ username: 'paper_shop_bot', name: TENANT })
  const folder = ends.use(temporaryFolder())
  const cwd = folder.path
  const root = JSON.stringify(telegram.url)
  await Bun.write(join(cwd, 'gatehouse.toml'), `[passepartout]\ntelegram_api_root = ${root}\n`)
  const page = await openDocs('passepartout.md')
  const server = ends.use(await startServer({ cwd }))
  const cli = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()
  const { id: tenant } = await cli('tenant', 'create', '--name', TENANT)
  const { exited } = Bun.spawn(
    [BINARY, 'bot', 'set', '--tenant', tenant, '--env', 'live', '--token-stdin'],
    { cwd, env: {}, stdin: Buffer.from(bot.token), stdout: 'ignore' },
  )
  expect(await exited).toBe(0)
  await cli('bot', 'enable', '--tenant', tenant, '--env', 'live')
  await cli('bot', 'enable', '--tenant', tenant, '--env', 'test')
  await telegram.waitForPoller(bot)

  async function app(environment: 'live' | 'test') {
    const made = ['key', 'create', '--engine', 'passepartout', '--tenant', tenant]
    const { key } = await cli(...made, '--env', environment)
    const shown = { language: 'js', words: 'encodeQR', env: { KEY: key, GATEHOUSE: server.url } }
    return { key, url: ends.use(await startShown(page, shown)).url }
  }

  const [sandbox, live] = [await app('test'), await app('live')]
  const running = ends.move()
  return { telegram, bot, sandbox, live, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/**
 * A new visitor of the app. All use one context: with a second one, this build of Chromium sends the
 * requests of scripts without cookies.
 */
async function newVisitor(app: { url: string }, look: Look = WIDE, javaScript = true) {
  await context.clearCookies()
  const page = await context.newPage()
  await turnTo(page, look)
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setScriptExecutionDisabled', { value: !javaScript })
  await page.goto(app.url)

  /** The page of the link, in a new tab. */
  async function followsLink(): Promise<Page> {
    const opened = context.waitForEvent('page')
    await page.getByRole('link', { name: 'Open Telegram' }).click()
    const chat = await opened
    await turnTo(chat, look)
    await reads(`Sign in to ${TENANT} as a test user`, chat)
    return chat
  }
  const reads = (heading: string, where = page) =>
    where.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  const presses = (button: string, where = page) =>
    where.getByRole('button', { name: button, exact: true }).click()
  const isTold = (text: string) => page.getByText(text).waitFor()
  const number = async () => (await page.locator('.number').textContent()) ?? ''

  return {
    ...{ page, reads, presses, isTold, followsLink, number },
    [Symbol.asyncDispose]: async () => {
      for (const each of context.pages().slice(1)) await each.close()
    },
  }
}

async function expectGood(page: Page, name: string) {
  await screenshot(page, `passepartout-${name}`)
  expect([name, await scrollsSideways(page)]).toEqual([name, false])
  expect([name, await findingsOf(page)]).toEqual([name, []])
}

/** The content of the QR code on the page. */
async function scanned(page: Page): Promise<string> {
  const size = 300
  const data = await page.evaluate(async (size) => {
    const svg = new XMLSerializer().serializeToString(document.querySelector('.qr svg') as Node)
    const picture = new Image()
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`
    await picture.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: size, height: size })
    const context = canvas.getContext('2d') as CanvasRenderingContext2D
    context.fillStyle = '#fff'
    context.fillRect(0, 0, size, size)
    context.drawImage(picture, 0, 0, size, size)
    return [...context.getImageData(0, 0, size, size).data]
  }, size)
  return decodeQR({ width: size, height: size, data: Uint8Array.from(data) })
}

test(
  'In the sandbox, the right number signs in as the chosen user, until the sign-out',
  async () => {
    await using grace = await newVisitor(fixture.sandbox)
    await grace.presses('Sign in with Telegram')
    await grace.reads('Sign in')
    await expectGood(grace.page, 'question')
    const number = await grace.number()
    await grace.page.reload()
    expect(await grace.number()).toBe(number)
    const chat = await grace.followsLink()
    await expectGood(chat, 'sandbox')
    await chat.getByText('Grace Hopper').click()
    await grace.presses(number, chat)
    await grace.reads('Sign-in approved', chat)
    await grace.page.bringToFront()
    await grace.isTold('Signed in as Grace Hopper')
    await expectGood(grace.page, 'signed-in')
    await grace.page.reload()
    await grace.isTold('Signed in as Grace Hopper')
    await grace.presses('Sign out')
    await grace.reads('Welcome')
    await grace.page.goto(`${fixture.sandbox.url}/sign-in`)
    await grace.reads('Sign-in expired')
  },
  LONG,
)

test(
  'A wrong number and a denial are shown, and the sign-in can start again',
  async () => {
    await using ada = await newVisitor(fixture.sandbox, NARROW_DARK)
    await expectGood(ada.page, 'welcome-narrow-dark')
    await ada.presses('Sign in with Telegram')
    const chat = await ada.followsLink()
    await expectGood(chat, 'sandbox-narrow-dark')
    const number = await ada.number()
    const numbers = await chat.getByRole('button', { name: /^\d\d$/ }).allTextContents()
    await ada.presses(numbers.find((one) => one !== number) ?? '', chat)
    await ada.reads('Sign-in denied', chat)
    await ada.page.bringToFront()
    await ada.isTold('You denied the sign-in or tapped a different number.')
    await expectGood(ada.page, 'denied-narrow-dark')
    await ada.presses('Try again')
    const again = await ada.followsLink()
    await ada.presses('Deny', again)
    await ada.page.bringToFront()
    await ada.reads('Not signed in')
  },
  LONG,
)

test(
  'The sign-in works without scripts',
  async () => {
    await using konrad = await newVisitor(fixture.sandbox, WIDE, false)
    await konrad.presses('Sign in with Telegram')
    const chat = await konrad.followsLink()
    await chat.getByText('Konrad Zuse').click()
    await konrad.presses(await konrad.number(), chat)
    await konrad.reads('Sign-in approved', chat)
    await konrad.isTold('Signed in as Konrad Zuse')
  },
  LONG,
)

test(
  'With Telegram, the QR code and the right number sign in',
  async () => {
    const { telegram, bot, live } = fixture
    const ada = telegram.person({ first_name: 'Ada <b>', last_name: 'Lovelace' })
    await using visitor = await newVisitor(live)
    await visitor.presses('Sign in with Telegram')
    const anchor = visitor.page.getByRole('link', { name: 'Open Telegram' })
    const link = (await anchor.getAttribute('href')) ?? ''
    expect(link).toStartWith('https://t.me/paper_shop_bot?start=')
    expect(await scanned(visitor.page)).toBe(link)
    ada.follow(link)
    const question = await ada.waitForMessage(bot)
    expect(question.text).toContain('Chrome on Linux')
    ada.tap(question, await visitor.number())
    await visitor.isTold('Signed in as Ada <b> Lovelace')
  },
  LONG,
)

test('A browser gets neither the sign-in of another browser nor the API key', async () => {
  const { telegram, bot, live } = fixture
  const mallory = telegram.person()
  const began = await fetch(`${live.url}/sign-in`, { method: 'POST', redirect: 'manual' })
  const cookie = began.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(began.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax; /)
  const shown = await (await fetch(`${live.url}/sign-in`, { headers: { cookie } })).text()
  expect(shown).not.toContain(live.key)
  mallory.follow(/href="([^"]+)"/.exec(shown)?.[1]?.replaceAll('&#38;', '&') ?? '')
  mallory.tap(await mallory.waitForMessage(bot), /class="number">(\d\d)</.exec(shown)?.[1] ?? '')
  await mallory.waitForMessage(bot, ({ buttons }) => buttons.length === 0)

  const victim = await fetch(`${live.url}/sign-in`, { redirect: 'manual' })
  expect([victim.status, victim.headers.get('set-cookie')]).toEqual([200, null])
  expect(await (await fetch(`${live.url}/sign-in/status`)).json()).toEqual({ status: 'not_found' })
  const own = await fetch(`${live.url}/sign-in`, { headers: { cookie }, redirect: 'manual' })
  expect([own.status, own.headers.get('location')]).toEqual([303, '/'])
})

test('Too many sign-ins at once are asked to wait', async () => {
  const begin = () => fetch(`${fixture.live.url}/sign-in`, { method: 'POST', redirect: 'manual' })
  const statuses = await Promise.all(Array.from({ length: 12 }, begin))
  const refused = statuses.find(({ status }) => status === 429)
  expect(await refused?.text()).toContain('Wait a minute')
})
