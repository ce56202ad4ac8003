import type { BrandingSettings } from '../../../../platform/branding/index.ts'
import type { Flow, FlowKind, Language } from '../model.ts'

/** The look of a tenant's pages. */
export type PageBranding = Pick<
  BrandingSettings,
  'accent' | 'logos' | 'supportUrl' | 'termsUrl' | 'privacyUrl'
>

/** The data of a page that shows a flow. */
export interface FlowPage {
  flow: Flow
  kind: FlowKind
  tenantName: string
  branding?: PageBranding
  language: Language
  status: number
  /** Hosted pages of other flows to link to. */
  links?: { kind: FlowKind; url: string }[]
  /** URL of the app that the user came from. */
  backTo?: string
  /** Allowed form targets besides this origin and https, such as a local app. */
  formTargets?: string[]
}

/** The data of a page without a form. */
export interface NoticePage {
  status: number
  /** URL of the app that the user came from. */
  backTo?: string
  /** URL that starts a new flow, if this one cannot continue. */
  beginAgain?: string
  language: Language
  /** Null if the flow, and so the tenant, is unknown. */
  tenantName: string | null
  branding?: PageBranding
  notice:
    | 'signed_in'
    | 'signed_up'
    | 'flow_unknown'
    | 'flow_expired'
    | 'other_browser'
    | 'forbidden'
    | 'too_many_tries'
    | 'failed'
    | 'not_now'
}

/** Renders flows for tenants without their own pages. */
export interface Pages {
  flow(page: FlowPage): Response
  notice(page: NoticePage): Response
}
