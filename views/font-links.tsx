import { assetHref } from './assets.ts'

/** Loads the fonts in a page's head. All text is in Inter, so its file is asked for at once. */
export const FontLinks = ({ base }: { base: string }) => (
  <>
    <link
      rel="preload"
      href={assetHref(base, 'inter.woff2')}
      as="font"
      type="font/woff2"
      crossorigin="anonymous"
    />
    <link rel="stylesheet" href={assetHref(base, 'fonts.css')} />
  </>
)
