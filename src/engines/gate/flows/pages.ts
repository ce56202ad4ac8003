import type { Flow, FlowKind, Language } from '../model/flows.ts'

/** A flow as a page shows it. */
export interface FlowPage {
  flow: Flow
  kind: FlowKind
  tenantName: string
  language: Language
  status: number
  /** Hosted pages of other flows that somebody here may want instead. */
  links?: { kind: FlowKind; url: string }[]
  /** The app that somebody came from, for who wants nothing more here. */
  backTo?: string
  /** Origins besides this one and https ones that the form may lead to, such as a local app. */
  formTargets?: string[]
}

/** An end of the road: nothing on it to fill in. */
export interface NoticePage {
  status: number
  /** The app that somebody came from. */
  backTo?: string
  /** A new flow, where this one cannot go on here. */
  beginAgain?: string
  language: Language
  /** Null where it is not known whose flow it was. */
  tenantName: string | null
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

/** Draws flows for people whose tenant has no pages of its own. */
export interface Pages {
  flow(page: FlowPage): Response
  notice(page: NoticePage): Response
}
