import { Banner } from '../banner.tsx'

const ID = 'outdated'
export const OUTDATED_SLOT = `#${ID}`

/** Where a page is told that it is outdated. */
export const OutdatedSlot = () => <div id={ID} role="alert" />

/** Tells a page that the session acts elsewhere by now. What was typed into the page stays in it. */
export const OutdatedNotice = () => (
  <Banner tone="warn" action={{ label: 'Reload', href: '' }}>
    This page is outdated and no longer updates: you switched to another tenant or environment, your
    role changed, or you signed out.
  </Banner>
)
