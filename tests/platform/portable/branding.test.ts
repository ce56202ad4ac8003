import { expect, test } from 'bun:test'
import { bootTestApp, useApp } from '../../support/app.ts'
import { png } from '../branding/images.ts'
import { ACTOR, exportOf, fileOf, importInto, type Line } from './fixture.ts'

async function exported(): Promise<Line[]> {
  await using app = await bootTestApp()
  const { id } = await app.tenant()
  const { branding } = app.platform
  await branding.change(ACTOR, id, { accent_color: '#ffd400' })
  await branding.setLogos(ACTOR, id, { light: png() })
  const caller = { tenantId: id, actor: ACTOR } as never
  const text = { kind: 'recovery', language: 'en', subject: 'Hello', intro: null } as const
  await app.gate.tenantMails.change(caller, text)
  return exportOf(app, id)
}

const lines = await exported()
const home = await useApp()
const svg = Buffer.from('<svg onload="alert(1)"/>').toString('base64')

test.each([
  ['branding', { accent: 'red;}' }, 'branding.accent_color: must be'],
  ['branding', { accent: '#FFD400' }, 'branding.branding: must be in the form'],
  ['branding', { terms_url: 'javascript:alert(1)' }, 'branding.terms_url: must be an https URL'],
  ['branding', { sender_name: 'A\r\nBcc: eve@example.com' }, 'branding.sender_name: must not'],
  ['branding_logo', { data: svg }, 'branding_logo.data: must be a PNG'],
  ['branding_logo', { data: '!' }, 'branding_logo.data: must be base64'],
  [
    'branding_logo',
    { data: png(16, 16).toString('base64') },
    'branding_logo.data: must have the type',
  ],
  ['branding_logo', { type: 'text/html' }, 'branding_logo.type: must be one of'],
  ['branding_logo', { hash: '0'.repeat(64) }, 'branding_logo.data: must have the type'],
  ['mail_text', { mail: 'welcome' }, 'mail_text.mail: is not a known kind'],
  ['mail_text', { subject: '{{code}}' }, 'mail_text.subject: must not contain {{code}}'],
])('An import of %s with %j is refused', async (kind, changes, message) => {
  const changed = lines.map((line) => (line.kind === kind ? { ...line, ...changes } : line))
  await expect(importInto(home, fileOf(changed))).rejects.toThrow(message)
})
