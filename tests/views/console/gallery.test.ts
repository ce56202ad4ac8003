import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  closePages,
  LOOKS,
  type Look,
  launchBrowser,
  openPage,
  screenshot,
  scrollsSideways,
  seriousFindings,
} from '../../support/browser.ts'
import { GALLERY, type GalleryPage, serveGallery } from '../../support/console-gallery.ts'

const names = Object.keys(GALLERY) as GalleryPage[]
const [wideLight, wideDark, narrowLight] = LOOKS

let browser: Browser
let gallery: ReturnType<typeof serveGallery>

beforeAll(async () => {
  browser = await launchBrowser()
  gallery = serveGallery()
})
afterEach(() => closePages(browser))
afterAll(async () => {
  await browser.close()
  await gallery[Symbol.asyncDispose]()
})

/** A page, and what the browser complains about from the first byte on. */
async function open(name: GalleryPage, look: Look = wideLight, options = {}) {
  const page = await openPage(browser, 'about:blank', look, options)
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(`${error}`))
  await page.goto(gallery.url(name))
  return { page, complaints }
}

/** The same document in another look: to load it again would show nothing else. */
async function showIn(page: Page, { width, height, colorScheme }: Look) {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height })
}

/** The element that the keyboard speaks to. */
const focused = (page: Page) => page.evaluate(() => document.activeElement?.outerHTML ?? '')

/** Cells that reach into their neighbours. */
const overlaps = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.rows td > .cell')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map(({ textContent }) => textContent),
  )

/** What fingers would miss: lower than 44 px, with what reaches beyond what is seen of it. */
const tooLow = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, .button, summary, select, .chips a, .tabs a, .tick')]
      .filter((element) => element.checkVisibility() && !element.closest('dialog'))
      .filter((element) => element.getBoundingClientRect().width > 4)
      .filter((element) => {
        const reach = Number.parseFloat(getComputedStyle(element, '::after').height) || 0
        const own = element.closest('.control, .choice') ?? element
        return Math.max(reach, own.getBoundingClientRect().height) < 43.5
      })
      .map(({ outerHTML }) => outerHTML),
  )

const WIDTHS = [320, 641, 768, 900, 901, 1024, 1920]

/**
 * One visit for all of it, as a visit costs more than what is asked. A theme changes colours alone,
 * so that only their contrast is looked at again.
 */
test.each(names)('the page %s is seen whole in every look, by everybody', async (name) => {
  const { page, complaints } = await open(name)
  const findings: unknown[] = []
  const note = (where: string | number, found: readonly unknown[]) => {
    if (found.length > 0) findings.push([where, ...found])
  }

  note('wide', await seriousFindings(page))
  for (const look of LOOKS) {
    await showIn(page, look)
    await screenshot(page, `console-${name}-${look.name}`)
    if (look === wideDark) note('dark', await seriousFindings(page, { rules: ['color-contrast'] }))
    if (look === narrowLight) note('narrow', await seriousFindings(page))
    if (await scrollsSideways(page)) note(look.name, ['scrolls sideways'])
    if (look === narrowLight) note(look.name, [...(await overlaps(page)), ...(await tooLow(page))])
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    if (await scrollsSideways(page)) note(width, ['scrolls sideways'])
  }

  expect(findings).toEqual([])
  expect(complaints).toEqual([])
})

test.each([wideDark, narrowLight])(
  'an open menu, palette and question have none either, and stay within $name',
  async (look) => {
    const { page } = await open('detail', look)

    await page.click('.account > summary')
    await screenshot(page, `console-menu-${look.name}`)
    expect(await seriousFindings(page, { within: '.topbar' })).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await screenshot(page, `console-palette-${look.name}`)
    expect(await seriousFindings(page, { within: '#palette' })).toEqual([])
    await page.keyboard.press('Escape')
    await page.click('summary:has-text("Delete job")')
    await screenshot(page, `console-question-${look.name}`)
    expect(await seriousFindings(page, { within: 'dialog[open]' })).toEqual([])
    expect(await scrollsSideways(page)).toBe(false)
  },
)

describe('without scripts', () => {
  const still = { javaScript: false }

  test('a question unfolds and its answer is posted', async () => {
    const { page } = await open('detail', wideLight, still)

    await page.click('summary:has-text("Pause")')
    await page.click('.question button:has-text("Pause")')

    expect(gallery.posted.at(-1)?.path).toBe('/detail')
  })

  test('the tenant, the data shown and the theme are forms', async () => {
    const { page } = await open('endpoints', wideLight, still)

    await page.click('.switcher > summary')
    await page.click('.switcher button:has-text("Fjord Bikes")')
    expect(gallery.posted.at(-1)).toMatchObject({
      path: '/console/switch',
      fields: { to: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    })
    await page.click('.switcher > summary')
    await page.click('.environment button:has-text("Test")')
    expect(gallery.posted.at(-1)).toEqual({
      path: '/console/environment',
      fields: { return_to: '/console/endpoints', environment: 'test' },
    })
    await page.click('.theme button:visible')
    expect(gallery.posted.at(-1)).toEqual({
      path: '/console/theme',
      fields: { return_to: '/console/endpoints', theme: 'light' },
    })
  })

  test('the search is a page, and the sidebar opens on a narrow screen', async () => {
    const { page } = await open('endpoints', narrowLight, still)

    expect(await page.isVisible('#sidebar')).toBe(false)
    await page.click('.menubutton')
    expect(await page.isVisible('#sidebar')).toBe(true)
    await screenshot(page, 'console-sidebar-narrow')
    await page.keyboard.press('Escape')
    await page.click('.search')
    expect(page.url()).toEndWith('/console/find')
  })

  test('a filter is sent by its button, and nothing that needs scripts is shown', async () => {
    const { page } = await open('endpoints', wideLight, still)

    expect(await page.isVisible('.filterbar button[type="submit"]')).toBe(true)
    expect(await page.locator('.copy:visible, .search kbd:visible').count()).toBe(0)
  })

  test('a secret asks for its tick before it lets go', async () => {
    const { page } = await open('secret', wideLight, still)

    await page.click('button:has-text("Continue")')
    expect(page.url()).toEndWith('/secret')
    await page.check('#secret-saved')
    await page.click('button:has-text("Continue")')
    expect(page.url()).toContain('/console/keys')
  })
})

describe('with scripts', () => {
  test('a link away from a secret asks whether it is saved', async () => {
    const { page } = await open('secret')

    await page.click('.crumbs a >> nth=0')
    expect(await page.textContent('dialog[open] h3')).toBe('Have you saved the secret?')
    await page.click('dialog[open] button:has-text("Go back")')
    expect(page.url()).toEndWith('/secret')
    await page.click('.crumbs a >> nth=0')
    await page.click('dialog[open] button:has-text("Leave page")')
    await page.waitForURL('**/console/**')
  })

  test('a new line of code begins where the one before did', async () => {
    const { page } = await open('form')

    await page.click('textarea[data-code]')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('{')
    await page.keyboard.press('Enter')
    await page.keyboard.type('  "a": 1,')
    await page.keyboard.press('Enter')
    await page.keyboard.type('"b": 2')
    expect(await page.inputValue('textarea[data-code]')).toBe('{\n  "a": 1,\n  "b": 2')
  })

  test('a question is a dialog that holds the focus and gives it back', async () => {
    const { page } = await open('detail')

    await page.click('summary:has-text("Delete job")')
    expect(await page.locator('dialog.dialog[open] h3').textContent()).toBe(
      'Delete Refresh prices?',
    )
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog.dialog', { state: 'detached' })
    expect(await focused(page)).toContain('Delete job')
    await page.click('summary:has-text("Delete job")')
    await page.click('dialog button:has-text("Cancel")')
    await page.waitForSelector('dialog.dialog', { state: 'detached' })
  })

  test('the palette opens by key, narrows down as one types, and goes where Enter says', async () => {
    const { page } = await open('overview')

    await page.keyboard.press('Control+k')
    const asked = page.waitForRequest('**/console/find?q=delay')
    await page.keyboard.type('delay')
    expect(await page.locator('[data-palette-pages] a:visible').allTextContents()).toEqual([
      'Delayed jobsJobs',
    ])
    await asked
    await page.waitForSelector('#palette-found a')
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toContain('href="/console/endpoints/1"')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toContain('href="/console/delayed"')
  })

  test('a slash is typed where one types', async () => {
    const { page } = await open('endpoints')

    await page.click('#filter-search')
    await page.keyboard.press('/')

    expect(await page.isVisible('#palette')).toBe(false)
    expect(await page.inputValue('#filter-search')).toBe('/')
  })

  test('the theme changes in place and is remembered', async () => {
    const { page } = await open('overview')

    const asked = page.waitForRequest('**/console/theme')
    await page.click('.theme button:visible')
    expect((await asked).postData()).toContain('theme=light')
    expect(await page.getAttribute('html', 'data-theme')).toBe('light')
  })

  test('a filter swaps the list alone and is in the address', async () => {
    const { page } = await open('endpoints')
    await page.evaluate(() => document.body.setAttribute('data-kept', ''))

    await page.click('.chips a:has-text("Failing")')
    await page.waitForURL('**/endpoints?state=failing')

    expect(await page.getAttribute('body', 'data-kept')).toBe('')
    expect(await focused(page)).toContain('Failing')
  })

  test('a request is seen by a line on top for as long as it takes', async () => {
    const { page } = await open('endpoints')
    const answer = Promise.withResolvers<void>()
    await page.route('**/endpoints?state=slow', async (route) => {
      await answer.promise
      await route.continue()
    })

    await page.click('.chips a:has-text("Slow")')
    await page.waitForSelector('#progress.htmx-request', { state: 'attached' })
    answer.resolve()
    await page.waitForSelector('#progress:not(.htmx-request)', { state: 'attached' })
  })

  test('menus close by Escape and by a click elsewhere', async () => {
    const { page } = await open('overview')
    const menu = page.locator('.account .popup')

    await page.click('.account > summary')
    expect(await menu.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await menu.isVisible()).toBe(false)
    await page.click('.account > summary')
    await page.click('h1')
    expect(await menu.isVisible()).toBe(false)
  })

  test('the summary of errors has the focus and leads to the field', async () => {
    const { page } = await open('form')

    expect(await focused(page)).toContain('Fix 2 problems')
    await page.click('.errorsummary a >> nth=1')
    expect(await focused(page)).toContain('id="field-schedule"')
  })

  test('the whole row leads to its page', async () => {
    const { page } = await open('endpoints')

    // The link of the row lies over the cell, which the driver takes for an obstacle.
    await page.click('tr:has-text("hooks.shop.example") td:has-text("82 ms")', { force: true })

    expect(page.url()).toEndWith('/console/endpoints/hooks.shop.example')
  })
})
