import { Banner } from '../banner.tsx'

const ID = 'outdated'
export const OUTDATED_SLOT = `#${ID}`

/** The element in which `OutdatedNotice` appears. */
export const OutdatedSlot = () => <div id={ID} role="alert" />

/** Says that the session has switched to another tenant or environment. Input on the page is kept. */
export const OutdatedNotice = () => (
  <Banner tone="warn" action={{ label: 'Reload', href: '' }}>
    This page is outdated and no longer updates: you switched to another tenant or environment, your
    role changed, or you signed out.
  </Banner>
)
