import { Banner } from '../banner.tsx'

const ID = 'outdated'
export const OUTDATED_SLOT = `#${ID}`

/** The element in which `OutdatedNotice` appears. */
export const OutdatedSlot = () => <div id={ID} role="alert" />

/** Says that the operator has lost access to the open page. Its input is kept. */
export const OutdatedNotice = () => (
  <Banner tone="warn" action={{ label: 'Reload', href: '' }}>
    This page no longer updates: you signed out, or your role changed.
  </Banner>
)
