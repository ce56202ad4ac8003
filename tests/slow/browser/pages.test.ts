import { afterAll, expect, test } from 'bun:test'
import { routeOf } from '../../../src/console/addresses.ts'
import { PAGES as CONSOLE_PAGES } from '../../../src/console/pages/index.ts'
import { renderMail } from '../../../src/platform/mail/template.ts'
import {
  expectGoodPages,
  launchBrowser,
  NARROW_DARK,
  openPage,
  turnTo,
} from '../../support/browser.ts'
import { startDemo } from '../../support/demo/index.ts'

/** Every page of the console with data, as its owner and admin sees it, the reference, and emails. */

const demo = await startDemo({ hours: 0.5, hasWeekBefore: false })
const browser = await launchBrowser()
const page = await openPage(browser, 'about:blank', NARROW_DARK)
const { token } = demo.session
const cookie = { name: 'identity_session', value: token, url: demo.url, sameSite: 'Lax' } as const
await page.context().addCookies([cookie])
const complaints: string[] = []
const foreign: string[] = []
page.on('console', (message) => complaints.push(message.text()))
page.on('pageerror', (error) => complaints.push(error.message))
page.on('request', (request) => {
  if (!/^data:/.test(request.url()) && !request.url().startsWith(demo.url))
    foreign.push(request.url())
})

afterAll(async () => {
  await browser.close()
  await demo[Symbol.asyncDispose]()
})

const stepsOf = (route: string) => route.split(':').length
/** The routes of the console by how many of their steps are open, so that the first match is the right one. */
const ROUTES = CONSOLE_PAGES.map(routeOf).toSorted((one, other) => stepsOf(one) - stepsOf(other))
const routeAt = (path: string) =>
  ROUTES.find((route) => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))

/**
 * An address of each page: of those without an id their own, and where links lead from there. Not each
 * object has all the pages below it, so others of its kind are opened until those are found.
 */
async function addresses(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const overview = new URL((await page.request.get(`${demo.url}/console`)).url()).pathname
  const tenant = overview.split('/')[2] ?? ''
  const open = ROUTES.map((route) =>
    route.replace(':tenant', tenant).replace(':environment', 'live'),
  ).filter((address) => !address.includes(':'))
  const lacksPages = (route: string) =>
    ROUTES.some((other) => other.startsWith(`${route}/`) && !found.has(other))
  const opened = new Set<string>()
  for (const address of open) {
    const known = routeAt(address) ?? ''
    if (opened.has(address) || (found.has(known) && !lacksPages(known))) continue
    opened.add(address)
    const response = await page.request.get(demo.url + address)
    const { pathname } = new URL(response.url())
    const route = routeAt(pathname)
    if (!route || response.status() !== 200) continue
    if (!found.has(route)) found.set(route, pathname)
    const links = (await response.text()).matchAll(/<a [^>]*href="(\/console\/[^"?#]+)/g)
    open.push(...Array.from(links, ([, href = '']) => href))
  }
  // Pages that only some objects lead to are below all of them.
  for (const route of ROUTES.filter((one) => !found.has(one))) {
    const [above, last] = [route.replace(/\/\w[^/]*$/, ''), /\/\w[^/]*$/.exec(route)?.[0] ?? '']
    const address = `${found.get(above)}${last}`
    if (found.has(above) && (await page.request.get(demo.url + address)).status() === 200)
      found.set(route, address)
  }
  return found
}

/** Pages behind a token, which other tests walk through, and one that only some of the shop's days have. */
const UNLINKED: ReadonlySet<string> = new Set([
  '/setup/:token',
  '/console/link/:token',
  '/console/invitation/:token',
  '/console/:tenant/webhooks/:id/deliveries/:delivery',
])

test('Every page of the console is accessible in light and dark, fits narrow screens, and loads only its own files', async () => {
  const found = await addresses()
  expect(ROUTES.filter((route) => !found.has(route) && !UNLINKED.has(route))).toEqual([])
  const titles = await examine([...found.values()])
  expect(titles.filter((title, position) => titles.indexOf(title) < position)).toEqual([])
}, 240_000)

test('The reference is accessible in light and dark, fits narrow screens, and loads only its own files', async () => {
  const engines = ['/gate', '/clockwork', '/passepartout', '/relay', '/notifications', '/manifest']
  const pages = ['', ...engines, '/installation', '/operations', '?q=rotate']
  await examine(pages.map((page) => `/reference${page}`))
}, 60_000)

/** Returns the titles. */
async function examine(paths: string[]): Promise<string[]> {
  await turnTo(page, NARROW_DARK)
  const pages: { name: string; html: string }[] = []
  const titles: string[] = []
  for (const path of paths) {
    const response = await page.goto(demo.url + path)
    const headings = await page.locator('h1').allInnerTexts()
    expect([path, response?.status(), headings]).toEqual([path, 200, [expect.any(String)]])
    titles.push(await page.title())
    pages.push({ name: path.slice(1).replaceAll('/', '-'), html: (await response?.text()) ?? '' })
  }
  await expectGoodPages(page, pages)
  expect([complaints, foreign]).toEqual([[], []])
  return titles
}

test('An email fits its page and is accessible, also with long words', async () => {
  const url = `https://gate.example.org/auth/verification?flow=${crypto.randomUUID()}&code=481516`
  const { html } = renderMail({
    language: 'de',
    tenantName: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    heading: 'Wassergeländeeigentumsübertragungsbestimmungenzuständigkeitsverordnung',
    paragraphs: ['x'.repeat(200)],
    code: 'K7QF-93XM-2LPD',
    link: { label: 'Verify email address', url, orOpen: 'Or copy this link into your browser:' },
    footer: 'y'.repeat(200),
  })
  // In a document of its own, with its own style sheet.
  const mail = await openPage(browser, 'about:blank')
  await mail.setContent(html)
  await expectGoodPages(mail, [{ name: 'mail', html }])
}, 30_000)
