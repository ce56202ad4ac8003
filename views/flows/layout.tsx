import type { ComponentChildren } from 'preact'
import type { PageBranding } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { Language } from '../../src/engines/gate/sign-in/model.ts'
import { Document } from '../document.tsx'
import { LegalLinks } from './branding.tsx'

/** A page for users of a tenant, with a single card. */
export const Layout = (page: {
  language: Language
  title: string
  branding?: PageBranding | undefined
  /** For pages with several forms. */
  isWide?: boolean
  children: ComponentChildren
}) => (
  <Document
    language={page.language}
    title={page.title}
    styles={{ sheet: 'flows.css', style: page.isWide ? 'flow wide' : 'flow' }}
    accent={page.branding?.accent ?? null}
  >
    {page.children}
    {page.branding && <LegalLinks branding={page.branding} language={page.language} />}
  </Document>
)
