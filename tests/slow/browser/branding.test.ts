import { afterAll, expect, test } from 'bun:test'
import { useConsole } from '../../console/fixture.ts'
import {
  findingsOf,
  launchBrowser,
  NARROW,
  scrollsSideways,
  turnTo,
} from '../../support/browser.ts'

const app = await useConsole()
const acme = await app.newTenant('Acme')
const browser = await launchBrowser()
afterAll(() => browser.close())
const page = await (await browser.newContext()).newPage()
await page
  .context()
  .addCookies([{ name: 'identity_session', value: acme.owner.token, url: app.url }])

test('The preview of the branding follows what is typed, and keeps what was typed', async () => {
  await page.goto(`${app.url}/console/settings/branding`)
  await page.fill('#field-display_name', 'Acme <b>Cloud</b>')
  await page.fill('#field-accent_color', '#7c3aed')
  await page.getByText('white text on #7c3aed').waitFor()
  await page.locator('.sample.dark header h4').filter({ hasText: 'Acme <b>Cloud</b>' }).waitFor()
  await page.waitForFunction(
    () =>
      getComputedStyle(document.querySelector('.sample .primary') as Element).backgroundColor ===
      'rgb(124, 58, 237)',
  )
  expect(await page.inputValue('.swatch')).toBe('#7c3aed')
  await page.fill('#field-accent_color', '#7c3')
  await page.locator('#preview .fielderror').waitFor()
  expect(await page.inputValue('#field-display_name')).toBe('Acme <b>Cloud</b>')
  expect(app.platform.branding.of(acme.id).accent).toBeNull()
})

test('The pages of the branding have nothing for axe to find, and fit a phone', async () => {
  for (const path of ['', '/emails/recovery']) {
    await page.goto(`${app.url}/console/settings/branding${path}`)
    await turnTo(page, NARROW)
    expect(await scrollsSideways(page)).toBe(false)
    expect(await findingsOf(page)).toEqual([])
  }
})
