import { expect, test } from 'bun:test'
import { launchBrowser } from '../support/browser.ts'
import { newOperator } from '../support/operator.ts'
import { servedApp } from './console-fixture.ts'

test('a tab that another one has switched shows nothing of the other tenant, and loses nothing that was typed', async () => {
  await using app = await servedApp()
  const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
  const job = { name: 'of-the-other', schedule: '0 3 * * *', url: 'http://127.0.0.1/' }
  await other.api.post('/v1/clockwork/jobs', job)
  const roles = { [acme.id]: 'owner', [other.id]: 'owner' } as const
  const session = await (await newOperator(app, { roles })).signIn()
  await session.actIn(acme.id)
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext()
    await context.addCookies([
      { name: 'identity_session', value: session.token, url: app.url, httpOnly: true },
    ])
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    const field = (label: string) => page.getByLabel(new RegExp(`^${label}`)).first()
    const notice = page.getByText('This page is outdated')
    await page.goto(`${app.url}/console/jobs/new`)
    await field('Name').fill('typed-in-acme')
    await field('Schedule').fill('0 4 * * *')
    await page.locator('#preview').getByText('Runs').first().waitFor()
    const preview = await page.locator('#preview').textContent()

    await session.actIn(other.id)
    await field('Schedule').fill('0 5 * * *')
    await notice.waitFor()
    expect(await page.locator('#preview').textContent()).toBe(preview)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Search' }).click()
    const refused = page.waitForResponse((answer) => answer.url().includes('/console/find'))
    await page.locator('#palette-query').fill('of-the-other')
    expect((await refused).status()).toBe(409)
    expect(await page.content()).not.toContain('/console/jobs/01')
    await page.keyboard.press('Escape')

    await field('URL').fill('http://127.0.0.1/')
    await page.getByRole('button', { name: 'Create job' }).click()
    await page.getByRole('heading', { name: 'Nothing was changed' }).waitFor()
    await page.getByRole('button', { name: 'Switch back and submit' }).click()
    await page.getByRole('heading', { name: 'typed-in-acme' }).waitFor()
    const jobs = (await acme.api.get('/v1/clockwork/jobs')).body
    expect(jobs).toMatchObject([{ name: 'typed-in-acme', schedule: '0 5 * * *' }])
    expect((await other.api.get('/v1/clockwork/jobs')).body).toMatchObject([job])
    expect(errors).toEqual([])
  } finally {
    await browser.close()
  }
}, 60_000)
