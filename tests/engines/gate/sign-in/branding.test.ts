import { expect, test } from 'bun:test'
import { LOGO_THEMES } from '../../../../src/platform/branding/index.ts'
import { jpeg, png } from '../../../platform/branding/images.ts'
import { ACTOR } from '../fixture.ts'
import { newBrowser } from './flows/browser.ts'
import { useFlows } from './flows/code-fixture.ts'

const { app, newTenant } = await useFlows()
const { branding } = app.platform

const EVERYTHING = {
  display_name: 'Acme Cloud',
  accent_color: '#FFD400',
  support_url: 'mailto:help@example.com',
  terms_url: 'https://example.com/terms',
  privacy_url: 'https://example.com/privacy',
  sender_name: 'Acme Accounts',
}

const KEPT = 'public, max-age=31536000, immutable'

async function signInPage(acme: Awaited<ReturnType<typeof newTenant>>) {
  return newBrowser(app).visit((await acme.start('login')).hosted_url)
}

test('A sign-in page shows the name, logos, color and links of its tenant, and of no other', async () => {
  const [acme, other] = [await newTenant(), await newTenant()]
  await branding.change(ACTOR, acme.id, EVERYTHING)
  await branding.setLogos(ACTOR, acme.id, { light: png() })
  const plain = (await signInPage(acme)).html
  expect(plain).toContain('class="logo plate"')
  await branding.setLogos(ACTOR, acme.id, { dark: jpeg(64, 32) })
  const { html } = await signInPage(acme)
  expect(html).toContain('Sign in to <bdi>Acme Cloud</bdi>')
  expect(html).toContain('class="flow branded"')
  const [, sheet = ''] = /href="(\/public\/accents\/[^"]+)"/.exec(html) ?? []
  const { status, headers } = await app.raw(sheet)
  expect([status, headers.get('cache-control')]).toEqual([200, KEPT])
  const links = [EVERYTHING.support_url, EVERYTHING.terms_url, EVERYTHING.privacy_url]
  for (const link of links)
    expect(html).toContain(`<a href="${link}" target="_blank" rel="noopener noreferrer">`)
  const { logos } = branding.of(acme.id)
  for (const theme of LOGO_THEMES) expect(html).toContain(`="${logos[theme]?.path}"`)
  const theirs = (await signInPage(other)).html
  expect(theirs).not.toMatch(/branded|class="logo|class="legal|Acme Cloud/)
})

test('An uploaded image is served as an image only, to keep, and gone with its logo', async () => {
  const acme = await newTenant()
  const polyglot = Buffer.concat([png(), Buffer.from('<script>alert(1)</script>')])
  const { logos } = await branding.setLogos(ACTOR, acme.id, { light: polyglot })
  const path = logos.light?.path ?? ''
  const { status, headers } = await app.raw(path)
  expect(status).toBe(200)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': KEPT,
  })
  expect(headers.has('set-cookie')).toBe(false)
  const { id } = await newTenant()
  expect((await app.raw(path.replace(acme.id, id))).status).toBe(404)
  await branding.setLogos(ACTOR, acme.id, { light: null })
  expect((await app.raw(path)).status).toBe(404)
})

test('The style sheet of a color is at its address, and nothing else gets into one', async () => {
  const { status, headers, body } = await app.raw('/public/accents/earlier/ffd400.css')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(body).toContain('--fill: #ffd400;\n  --on-fill: #000000;')
  for (const file of [
    'ffd400',
    'FFD400.css',
    'red.css',
    'ffd40.css',
    '%7D*%7B.css',
    'ffd400%0A.css',
  ])
    expect((await app.raw(`/public/accents/earlier/${file}`)).status).toBe(404)
})
