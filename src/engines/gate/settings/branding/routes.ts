import { Elysia } from 'elysia'
import type { Access } from '../../../../http/access.ts'
import { PlainErrors, refusalsIn } from '../../../../http/responses.ts'
import type { BrandingSettings } from './index.ts'
import { BrandingChange, BrandingView, EmailTexts, EmailTextsChange, LogoChange } from './model.ts'

const { refused, badBody } = refusalsIn(PlainErrors)
const reads = 'settings:read'
const writes = 'settings:write'

/** What users see of a tenant on sign-in pages and in emails. */
export const brandingRoutes = ({
  brandingSettings,
  access,
}: {
  brandingSettings: BrandingSettings
  access: Access
}) =>
  new Elysia({ prefix: '/settings/branding', tags: ['gate'] })
    .use(access)
    .get('', ({ caller }) => brandingSettings.get(caller), {
      scope: reads,
      detail: { summary: 'Get the branding' },
      response: { 200: BrandingView, ...refused },
    })
    .put('', ({ caller, body }) => brandingSettings.change(caller, body), {
      scope: writes,
      detail: {
        summary: 'Update the branding',
        description: 'Changes only the given fields; null or an empty text restores the default.',
      },
      body: BrandingChange,
      response: { 200: BrandingView, ...badBody, ...refused },
    })
    .put('/logos', ({ caller, body }) => brandingSettings.setLogos(caller, body), {
      scope: writes,
      detail: {
        summary: 'Upload or delete logos',
        description:
          'Changes only the given logos; null deletes one. SVG is refused because it can contain scripts.',
      },
      body: LogoChange,
      response: { 200: BrandingView, ...badBody, ...refused },
    })
    .get('/emails', ({ caller }) => brandingSettings.emails(caller), {
      scope: reads,
      detail: {
        summary: 'List the texts of emails',
        description: 'Every email in every language, with its default texts.',
      },
      response: { 200: EmailTexts, ...refused },
    })
    .put('/emails', ({ caller, body }) => brandingSettings.changeEmails(caller, body.emails), {
      scope: writes,
      detail: {
        summary: 'Update the texts of emails',
        description:
          'Changes only the given fields of the given emails; null restores the default. Codes, links and security notes are part of every email.',
      },
      body: EmailTextsChange,
      response: { 200: EmailTexts, ...badBody, ...refused },
    })
